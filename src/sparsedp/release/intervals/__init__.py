"""Intervals of coefficients in a model file, and their picture."""

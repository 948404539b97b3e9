"""Coordinate descent: a coordinate is chosen privately, then a noisy step along it."""

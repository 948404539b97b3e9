"""Columns that Pursuit fits: which features bend, and what the products of columns cost."""

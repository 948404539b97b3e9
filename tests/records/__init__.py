"""Sums over records in every layout, against slow references."""

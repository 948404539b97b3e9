"""Kernels for sums over records: products, norms, histograms, residuals, stored entries.

Each has a slow reference of the same signature; what they promise is in data/sums/summation.md.
"""

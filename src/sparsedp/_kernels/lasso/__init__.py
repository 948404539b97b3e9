"""Kernels of the LASSO reference: coordinate descent on a quadratic."""

"""Kernels of the LASSO reference: coordinate descent on a quadratic.

``coordinate`` is compiled, ``coordinate_reference`` has the same signatures in NumPy. Nothing here
is private: the LASSO runs without noise (solvers/lasso/lasso.md).
"""

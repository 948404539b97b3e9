"""The LASSO without privacy: the reference for private solvers (lasso.md).

A working set of columns (columns.py), a quadratic model on it (model.py), what is to be minimal
(goal.py), and the descent that ends with a bound on the gap (descent.py).
"""

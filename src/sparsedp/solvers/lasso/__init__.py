"""The LASSO without privacy: the reference for private solvers (lasso.md)."""

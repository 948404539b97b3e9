"""Khanna et al. (2024), Sparse Private LASSO Logistic Regression."""

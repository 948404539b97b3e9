"""Estimators for scikit-learn: the only layer that imports it."""

from sparsedp.estimators.classifier import SparseLogisticRegression
from sparsedp.estimators.regressor import SparseLinearRegression

__all__ = ["SparseLinearRegression", "SparseLogisticRegression"]

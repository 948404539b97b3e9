"""Estimators for scikit-learn: the only layer that imports it."""

from sparsedp.estimators.classifier import SparseLogisticRegression
from sparsedp.estimators.poisson import SparsePoissonRegressor
from sparsedp.estimators.pretraining import fit_public_model
from sparsedp.estimators.regressor import SparseLinearRegression
from sparsedp.estimators.schema_transformer import SchemaTransformer
from sparsedp.estimators.tuning import PrivateSearchCV

__all__ = [
    "PrivateSearchCV",
    "SchemaTransformer",
    "SparseLinearRegression",
    "SparseLogisticRegression",
    "SparsePoissonRegressor",
    "fit_public_model",
]

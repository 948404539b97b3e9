"""Sparse linear models with differential privacy, for people who use scikit-learn.

Names are loaded when they are first used: ``import sparsedp`` itself costs nothing.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sparsedp.data.blocks.blocks import RecordBlocks
    from sparsedp.data.bounds import Bounds
    from sparsedp.data.schema import Schema
    from sparsedp.estimators import (
        PrivateSearchCV,
        SchemaTransformer,
        SparseLinearRegression,
        SparseLogisticRegression,
        SparsePoissonRegressor,
    )
    from sparsedp.evaluation import Evaluation, evaluate
    from sparsedp.fit.parts import Holdout
    from sparsedp.planning import QualityPlan, plan
    from sparsedp.privacy.account.feasibility import TooFewRecords
    from sparsedp.privacy.ledger import BudgetExceeded, Ledger, LedgerError
    from sparsedp.privacy.record import PrivacyRecord
    from sparsedp.privacy.schedule import UnprovenGuarantee

__version__ = "0.2.0"

_HOME = {
    "Bounds": "sparsedp.data.bounds",
    "BudgetExceeded": "sparsedp.privacy.ledger",
    "Evaluation": "sparsedp.evaluation",
    "Ledger": "sparsedp.privacy.ledger",
    "LedgerError": "sparsedp.privacy.ledger",
    "PrivacyRecord": "sparsedp.privacy.record",
    "Holdout": "sparsedp.fit.parts",
    "PrivateSearchCV": "sparsedp.estimators",
    "QualityPlan": "sparsedp.planning",
    "RecordBlocks": "sparsedp.data.blocks.blocks",
    "Schema": "sparsedp.data.schema",
    "SchemaTransformer": "sparsedp.estimators",
    "SparseLinearRegression": "sparsedp.estimators",
    "SparseLogisticRegression": "sparsedp.estimators",
    "SparsePoissonRegressor": "sparsedp.estimators",
    "TooFewRecords": "sparsedp.privacy.account.feasibility",
    "UnprovenGuarantee": "sparsedp.privacy.schedule",
    "evaluate": "sparsedp.evaluation",
    "plan": "sparsedp.planning",
}

__all__ = [
    "Bounds",
    "BudgetExceeded",
    "Evaluation",
    "Holdout",
    "Ledger",
    "LedgerError",
    "PrivacyRecord",
    "PrivateSearchCV",
    "QualityPlan",
    "RecordBlocks",
    "Schema",
    "SchemaTransformer",
    "SparseLinearRegression",
    "SparseLogisticRegression",
    "SparsePoissonRegressor",
    "TooFewRecords",
    "UnprovenGuarantee",
    "evaluate",
    "plan",
]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'sparsedp' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])

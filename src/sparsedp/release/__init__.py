"""What leaves the house: the model file, its card and its report. No record is visible from here.

Names are loaded when they are first used, so that reading a model does not pay for its report.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sparsedp.release.card import Card
    from sparsedp.release.feature import Feature
    from sparsedp.release.model import PublishedModel
    from sparsedp.release.report import write_report

_HOME = {
    "Card": "sparsedp.release.card",
    "Feature": "sparsedp.release.feature",
    "PublishedModel": "sparsedp.release.model",
    "write_report": "sparsedp.release.report",
}

__all__ = ["Card", "Feature", "PublishedModel", "write_report"]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'sparsedp.release' has no attribute {name!r}")

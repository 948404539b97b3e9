"""Disjoint parts of the persons: who is in which, and what is released beside a model."""

from sparsedp.fit.parts.beside import FIT, Beside
from sparsedp.fit.parts.coins import held_out, parts_by_coins
from sparsedp.fit.parts.holdout import Holdout

__all__ = ["FIT", "Beside", "Holdout", "held_out", "parts_by_coins"]

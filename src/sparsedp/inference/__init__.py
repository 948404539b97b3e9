"""Intervals and selection confidence: what released coefficients and their errors say.

All of it is computed from releases; solvers make them (solvers/pursuit/inference/).
"""

from sparsedp.inference.inference import Inference
from sparsedp.inference.table import CoefficientTable

__all__ = ["CoefficientTable", "Inference"]

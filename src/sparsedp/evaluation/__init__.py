"""Private scores of a model: one noisy table of predictions against the truth, and what follows.

private.py has the order: predict, gate, charge, table, scores. A kind of target has one file with
its table and its scores (binary, multiclass, regression); proofs are in evaluation.md.
"""

from sparsedp.evaluation.private import evaluate
from sparsedp.evaluation.result import Evaluation
from sparsedp.evaluation.score import Score

__all__ = ["Evaluation", "Score", "evaluate"]

"""Figure 1 of Khanna et al. (2024)."""

from pathlib import Path
from typing import Any

from sparsedp_experiments.private_lasso import comparison

TITLE = "Figure 1: correctly identified zeros against epsilon, synthetic set"
NOTE = """Zeros among the 92 weights that are zero in truth; more is better. The paper draws curves
and prints no numbers; it takes those of ADMM from Wang and Zhang (2020), which are
reruns here.
"""


COLUMNS = comparison.COLUMNS
trials = comparison.trials
run = comparison.run


def summarize(rows: list[dict[str, Any]], settings: dict[str, Any]) -> str:
    """A line per method."""
    return comparison.summarize(rows, "correct_zeros", 1, NOTE)


def draw(rows: list[dict[str, Any]], settings: dict[str, Any], folder: Path) -> None:
    """Curves with standard errors."""
    comparison.draw(
        rows,
        "correct_zeros",
        "correct zeros, of 92",
        folder,
        "figure1",
        limit=(92, "all that there are"),
    )

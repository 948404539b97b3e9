"""Figure 3 of Khanna et al. (2024)."""

from pathlib import Path
from typing import Any

from sparsedp_experiments.private_lasso import comparison

TITLE = "Figure 3: F1 score of the support against epsilon, synthetic set"
NOTE = """Higher is better; 2 TP / (2 TP + FP + FN) of the non-zero weights. The paper draws curves
and prints no numbers. The fits are those of figure1.
"""
USES = ("figure1",)


COLUMNS = comparison.COLUMNS


def trials(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """None of its own."""
    return []


def summarize(rows: list[dict[str, Any]], settings: dict[str, Any]) -> str:
    """A line per method."""
    return comparison.summarize(rows, "f1", 3, NOTE)


def draw(rows: list[dict[str, Any]], settings: dict[str, Any], folder: Path) -> None:
    """Curves with standard errors."""
    comparison.draw(rows, "f1", "F1 score of the support", folder, "figure3", null="no feature")

"""Figure 2 of Khanna et al. (2024)."""

from pathlib import Path
from typing import Any

from sparsedp_experiments.private_lasso import comparison

TITLE = "Figure 2: incorrectly identified zeros against epsilon, synthetic set"
NOTE = """Zeros among the eight weights that are not zero in truth; fewer is better. The paper
draws curves and prints no numbers. The fits are those of figure1.
"""
USES = ("figure1",)


COLUMNS = comparison.COLUMNS


def trials(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """None of its own."""
    return []


def summarize(rows: list[dict[str, Any]], settings: dict[str, Any]) -> str:
    """A line per method."""
    return comparison.summarize(rows, "incorrect_zeros", 2, NOTE)


def draw(rows: list[dict[str, Any]], settings: dict[str, Any], folder: Path) -> None:
    """Curves with standard errors."""
    comparison.draw(
        rows,
        "incorrect_zeros",
        "incorrect zeros, of 8",
        folder,
        "figure2",
        limit=(8, "all that there are"),
    )

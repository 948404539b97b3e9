"""Figure 4 of Khanna et al. (2024)."""

from pathlib import Path
from typing import Any

from sparsedp_experiments.private_lasso import comparison

TITLE = "Figure 4: classification error against epsilon, synthetic set"
NOTE = """Share of wrong labels among test records; lower is better. The paper draws curves and
prints no numbers. The fits are those of figure1.
"""
USES = ("figure1",)


COLUMNS = comparison.COLUMNS


def trials(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """None of its own."""
    return []


def summarize(rows: list[dict[str, Any]], settings: dict[str, Any]) -> str:
    """A line per method."""
    return comparison.summarize(rows, "test_error", 3, NOTE)


def draw(rows: list[dict[str, Any]], settings: dict[str, Any], folder: Path) -> None:
    """Curves with standard errors."""
    comparison.draw(
        rows,
        "test_error",
        "error on the test part",
        folder,
        "figure4",
        null="majority class",
        logarithmic=True,
    )

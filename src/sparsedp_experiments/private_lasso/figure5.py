"""Figure 5 of Khanna et al. (2024)."""

from pathlib import Path
from typing import Any

from sparsedp_experiments.private_lasso import comparison

TITLE = "Figure 5: classification error against epsilon, KDDCUP'99"
NOTE = """Share of wrong labels among 15,000 other connections; lower is better. The paper draws
curves and prints no numbers.
"""


COLUMNS = comparison.COLUMNS
trials = comparison.trials
run = comparison.run


def summarize(rows: list[dict[str, Any]], settings: dict[str, Any]) -> str:
    """A line per method."""
    return comparison.summarize(rows, "test_error", 4, NOTE)


def draw(rows: list[dict[str, Any]], settings: dict[str, Any], folder: Path) -> None:
    """Curves with standard errors."""
    comparison.draw(
        rows,
        "test_error",
        "error on the test part",
        folder,
        "figure5",
        null="majority class",
        logarithmic=True,
    )

"""Figure 4 of Hoseinpour et al. (2023)."""

from typing import Any

from sparsedp_experiments.pretraining import curves

TITLE = "Figure 4: loss of noisy gradient descent at epsilon 100, from zero"
COLUMNS = curves.COLUMNS

trials, run, summarize = curves.trials, curves.run, curves.summarize


def draw(rows: list[dict[str, Any]], settings: dict[str, Any], folder: Any) -> None:
    """The curves."""
    curves.picture(rows, settings, folder, "figure4")

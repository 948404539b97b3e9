"""Figure 9 of Hoseinpour et al. (2023)."""

from typing import Any

from sparsedp_experiments.pretraining import boundary

TITLE = "Figure 9: decision boundary of the pre-trained model at epsilon 1"
COLUMNS = boundary.COLUMNS

trials, run, summarize = boundary.trials, boundary.run, boundary.summarize


def draw(rows: list[dict[str, Any]], settings: dict[str, Any], folder: Any) -> None:
    """The boundaries."""
    boundary.picture(rows, settings, folder, "figure9")

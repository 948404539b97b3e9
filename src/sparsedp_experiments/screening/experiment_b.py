"""Experiment B of Khanna et al. on private screening rules."""

from typing import Any

from sparsedp_experiments.screening import fits

TITLE = "Experiment B: screening with noise, steps without noise"
COLUMNS = fits.COLUMNS
NOTE = """Steps are exact, the rule has noise. The paper: when screening every 50th iteration about
10 percent of the true non-zeros and none of the true zeros stay; the other two schedules as in
Figure 1. Mean and standard error over draws of the set; *proven* has the noise for what a record
can really change. *Safe rule* starts without weights: true zeros that exact steps never choose stay
zero.
"""


def trials(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """All schedules."""
    return fits.half_private_trials(settings)


def run(trial: dict[str, Any], settings: dict[str, Any], data: Any, seed: Any) -> dict[str, Any]:
    """One fit."""
    return fits.half_private_run(trial, settings, seed, exact="select")


def summarize(rows: list[dict[str, Any]], settings: dict[str, Any]) -> str:
    """A table."""
    return NOTE + "\n" + fits.half_private_table(rows, settings["published"]["words"])


def draw(rows: list[dict[str, Any]], settings: dict[str, Any], folder: Any) -> None:
    """Bars."""
    fits.half_private_picture(rows, settings, folder, "experiment-b")

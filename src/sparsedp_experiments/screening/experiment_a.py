"""Experiment A of Khanna et al. on private screening rules."""

from typing import Any

from sparsedp_experiments.screening import fits

TITLE = "Experiment A: screening without noise, steps with noise"
COLUMNS = fits.COLUMNS
NOTE = """The rule is evaluated without noise, steps are private. The paper: "no matter how often
we implemented the screening rule, no coefficients were screened", so that all stay at what the
dense starting point and the steps made of them. Mean and standard error over draws of the set;
*proven* has the noise for what a record can really change. *Safe rule* starts without weights: its
zeros are weights that no step chose, not weights that were screened.
"""


def trials(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """All schedules."""
    return fits.half_private_trials(settings)


def run(trial: dict[str, Any], settings: dict[str, Any], data: Any, seed: Any) -> dict[str, Any]:
    """One fit."""
    return fits.half_private_run(trial, settings, seed, exact="perturb")


def summarize(rows: list[dict[str, Any]], settings: dict[str, Any]) -> str:
    """A table."""
    return NOTE + "\n" + fits.half_private_table(rows, settings["published"]["words"])


def draw(rows: list[dict[str, Any]], settings: dict[str, Any], folder: Any) -> None:
    """Bars."""
    fits.half_private_picture(rows, settings, folder, "experiment-a")

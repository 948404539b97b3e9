"""Table 1 of Hoseinpour et al. (2023)."""

import math
from typing import Any

import numpy as np

from sparsedp_experiments.framework.figure import COLORS, axes, level, save, series
from sparsedp_experiments.framework.table import column, markdown, mean_error
from sparsedp_experiments.pretraining import fits

TITLE = "Table 1: accuracy with and without a public model to start from"
COLUMNS = ("training_accuracy", "test_accuracy", "majority", "n_records")
STARTS = ("zero", "public")
NOTE = """Accuracy in percent on the private training records, as in the paper, mean and standard
error over repetitions; test accuracy is below. The paper names neither its two features nor the
source of its 400 + 400 patients, and not delta, clip, step size or number of steps: its data
cannot be had, and its numbers can be reproduced in outline only.

- *published*: mean gradient clipped, noise of 2C sqrt(2 ln(1.25/delta)) / (n epsilon) in every
  step. Nothing is proven for it: one record can move a clipped mean by 2C, not 2C/n, and steps are
  not composed.
- *published noise not over n*: tried because the paper's accuracies at epsilon 0.05 to 1 are far
  below those that the printed noise gives.
- *proven*: the same descent along the clipped mean, with noise for what one bounded record can
  move it, over all steps.
- *adapted steps*: the library's default, another descent: gradients clipped record by record,
  features centered, steps that adapt, weights pulled toward the public model.
- The paper's 67.5 without and 78.0 with a public model at epsilon 150 cannot both belong to the
  minimum of one convex loss: its descent from zero was stopped early, or its features were not
  scaled.
- 29.75, in both columns at epsilon 0.01, is 119/400: a class share, which any model has that says
  this class of everybody.
"""


def trials(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """All methods and starts on every draw."""
    found = []
    for name in settings["sets"]:
        for repetition in range(settings["repetitions"]):
            common = {"set": name, "repetition": repetition}
            found += [
                {**common, "method": "no noise", "start": start, "epsilon": math.inf}
                for start in STARTS
            ]
            found.append(
                {**common, "method": "public model alone", "start": "public", "epsilon": math.inf}
            )
            found += [
                {**common, "method": method, "start": start, "epsilon": epsilon}
                for epsilon in settings["epsilons"]
                for start in STARTS
                for method in fits.METHODS
            ]
    return found


def run(trial: dict[str, Any], settings: dict[str, Any], data: Any, seed: Any) -> dict[str, Any]:
    """One fit."""
    records = fits.split(trial["set"], settings, data, trial["repetition"])
    if trial["method"] == "public model alone":
        model = records.public_model
    else:
        method = "as printed" if trial["method"] == "no noise" else trial["method"]
        model = fits.model(method, trial["start"], trial["epsilon"], records, settings, seed)
    return {
        **records.accuracy(model),
        "majority": records.majority,
        "n_records": records.private.n_records,
    }


def summarize(rows: list[dict[str, Any]], settings: dict[str, Any]) -> str:
    """Tables of training and test accuracy by set."""
    parts = [NOTE]
    for name in dict.fromkeys(row["set"] for row in rows):
        mine = [row for row in rows if row["set"] == name]
        parts.append(f"## {name}: {fits.SETS[name]}\n\nTraining accuracy:\n")
        parts.append(_table(mine, settings, "training_accuracy", printed=True))
        parts.append("Test accuracy:\n")
        parts.append(_table(mine, settings, "test_accuracy", printed=False))
    return "\n".join(parts)


def _table(
    rows: list[dict[str, Any]], settings: dict[str, Any], value: str, *, printed: bool
) -> str:
    epsilons = settings["epsilons"]
    lines = []
    for start in STARTS:
        begin = "from zero" if start == "zero" else "pre-trained"
        if printed:
            known = dict(
                zip(settings["published"]["epsilons"], settings["published"][start], strict=True)
            )
            cells = [f"{known[e]:.2f}" if e in known else "" for e in epsilons]
            lines.append(["printed in the paper (its data)", begin, *cells])
        for method in fits.METHODS:
            cells = [mean_error(column(_where(rows, method, start, e), value), 1) for e in epsilons]
            lines.append([fits.LABELS[method], begin, *cells])
        exact = mean_error(column(_where(rows, "no noise", start, math.inf), value), 1)
        lines.append(["GD, no noise", begin, *[exact] * len(epsilons)])
    alone = _where(rows, "public model alone", "public", math.inf)
    lines.append(["public model alone", "", *[mean_error(column(alone, value), 1)] * len(epsilons)])
    if printed:
        majority = f"{np.mean(column(rows, 'majority')):.1f}"
        lines.append(["larger class", "", *[majority] * len(epsilons)])
    return markdown(["method", "start", *(f"ε = {e:g}" for e in epsilons)], lines)


def _where(
    rows: list[dict[str, Any]], method: str, start: str, epsilon: float
) -> list[dict[str, Any]]:
    key = (method, start, epsilon)
    return [row for row in rows if (row["method"], row["start"], row["epsilon"]) == key]


def draw(rows: list[dict[str, Any]], settings: dict[str, Any], folder: Any) -> None:
    """Training accuracy against epsilon: a row per start, a column per set."""
    sets = list(dict.fromkeys(row["set"] for row in rows))
    figure, grid = axes(len(sets), 2, width=3.6, height=2.8)
    epsilons = settings["epsilons"]
    for row_of_axes, start in zip(grid, STARTS, strict=True):
        for ax, name in zip(row_of_axes, sets, strict=True):
            mine = [row for row in rows if row["set"] == name]
            ax.plot(
                settings["published"]["epsilons"],
                settings["published"][start],
                "x",
                color=COLORS["paper"],
                label="printed in the paper (its data)",
            )
            for method in fits.METHODS:
                samples = [
                    column(_where(mine, method, start, e), "training_accuracy") for e in epsilons
                ]
                style = {"linestyle": ":", "marker": "."} if method == "without 1/n" else {}
                color = fits.color(method)
                series(ax, epsilons, samples, label=fits.LABELS[method], color=color, **style)
            exact = column(_where(mine, "no noise", start, math.inf), "training_accuracy")
            level(ax, float(np.mean(exact)), label="GD, no noise", color=COLORS["reference"])
            majority = float(np.mean(column(mine, "majority")))
            level(ax, majority, label="larger class", color=COLORS["null"], linestyle="-")
            begin = "from zero" if start == "zero" else "pre-trained"
            ax.set_title(f"{name}, {begin}", fontsize=9)
            ax.set_xscale("log")
            ax.set_ylim(25, 92)
    for ax in grid[-1]:
        ax.set_xlabel("epsilon")
    for ax in grid[:, 0]:
        ax.set_ylabel("training accuracy, %")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)
    save(figure, folder, "table1")

"""Figure 7 of Hoseinpour et al. (2023)."""

import math
from typing import Any

import numpy as np

from sparsedp_experiments.framework.figure import COLORS, axes, level, save, series
from sparsedp_experiments.framework.table import column, markdown, mean_error
from sparsedp_experiments.pretraining import fits

TITLE = "Figure 7: accuracy of the pre-trained model against the scale of the noise"
COLUMNS = ()
USES = ("table1",)
NOTE = """Training accuracy in percent of the published calibration, mean and standard error over
repetitions, against the standard deviation of the noise in every entry of the mean gradient. The
paper's curve is drawn, not printed; its Table 1 is put at its epsilon. Methods compare at equal
epsilon; the scale above is the noise of the published formula at it, with our delta and clip, which
the paper does not state: other methods have other noise.
"""
METHODS = ("as printed", "proven", "sound", "Pursuit")


def trials(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """None of its own."""
    return []


def run(trial: dict[str, Any], settings: dict[str, Any], data: Any, seed: Any) -> dict[str, Any]:
    """There are no trials to run."""
    raise ValueError("Figure 7 draws the trials of Table 1 and has none of its own")


def at(rows: list[dict[str, Any]], name: str, method: str) -> list[dict[str, Any]]:
    """Pre-trained fits of a set by a method."""
    key = (name, method, "public")
    return [row for row in rows if (row["set"], row["method"], row["start"]) == key]


def epsilons_of(rows: list[dict[str, Any]]) -> list[float]:
    """The finite ones, in order."""
    return sorted({row["epsilon"] for row in rows if math.isfinite(row["epsilon"])})


def scales(
    rows: list[dict[str, Any]], settings: dict[str, Any], epsilons: list[float]
) -> list[float]:
    """Standard deviations of the published noise at these epsilon."""
    n = rows[0]["n_records"]
    return [fits.noise_scale(epsilon, n, settings) for epsilon in epsilons]


def summarize(rows: list[dict[str, Any]], settings: dict[str, Any]) -> str:
    """A table per set."""
    parts, epsilons = [NOTE], epsilons_of(rows)
    for name in dict.fromkeys(row["set"] for row in rows):
        mine = [row for row in rows if row["set"] == name]
        header = ["noise", *(f"{s:.3g}" for s in scales(mine, settings, epsilons))]
        lines: list[list[str]] = [["epsilon", *(f"{e:g}" for e in epsilons)]]
        for method in METHODS:
            found = at(rows, name, method)
            cells = [
                mean_error(column([r for r in found if r["epsilon"] == e], "training_accuracy"), 1)
                for e in epsilons
            ]
            lines.append([fits.LABELS[method], *cells])
        parts += [f"## {name}: {fits.SETS[name]}\n", markdown(header, lines)]
    return "\n".join(parts)


def draw(rows: list[dict[str, Any]], settings: dict[str, Any], folder: Any) -> None:
    """A panel per set."""
    sets, epsilons = list(dict.fromkeys(row["set"] for row in rows)), epsilons_of(rows)
    figure, grid = axes(len(sets), width=3.8, height=3.4)
    printed = settings["published"]
    for ax, name in zip(grid.flat, sets, strict=True):
        mine = [row for row in rows if row["set"] == name]
        ax.plot(
            printed["epsilons"],
            printed["accuracy"],
            "x",
            color=COLORS["paper"],
            label="printed in Table 1 (its data)",
        )
        for method in METHODS:
            found = at(rows, name, method)
            samples = [
                column([r for r in found if r["epsilon"] == e], "training_accuracy")
                for e in epsilons
            ]
            color = COLORS[fits.KINDS[method]]
            series(ax, epsilons, samples, label=fits.LABELS[method], color=color)
        exact = column(at(rows, name, "no noise"), "training_accuracy")
        level(ax, float(np.mean(exact)), label="GD, no noise", color=COLORS["reference"])
        majority = float(np.mean(column(mine, "majority")))
        level(ax, majority, label="larger class", color=COLORS["null"], linestyle="-")
        ax.set_title(name, fontsize=9)
        ax.set_xscale("log")
        ax.invert_xaxis()  # noise grows to the right, as in the paper
        ax.set_xlabel("epsilon")
        n = mine[0]["n_records"]
        above = ax.secondary_xaxis(
            "top",
            functions=(
                lambda e, n=n: fits.noise_scale(1, n, settings) / np.maximum(e, 1e-9),
                lambda s, n=n: fits.noise_scale(1, n, settings) / np.maximum(s, 1e-9),
            ),
        )
        above.set_xlabel("standard deviation of the published noise", fontsize=8)
        ax.set_ylabel("training accuracy, %")
        ax.set_ylim(25, 92)
    handles, labels = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8)
    save(figure, folder, "figure7")

"""Decision boundaries: Figures 8 to 11 of Hoseinpour et al. (2023)."""

from typing import Any

import numpy as np

from sparsedp_experiments.framework.figure import COLORS, axes, save
from sparsedp_experiments.framework.table import column, markdown, mean_error
from sparsedp_experiments.pretraining import fits

COLUMNS = ("weight_0", "weight_1", "intercept", "training_accuracy", "test_accuracy")
METHODS = ("as printed", "proven", "sound", "Pursuit")
SET = "two-features"


def trials(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """Runs that differ by their noise, from the same public model on the same records."""
    epsilon = float(settings["epsilon"])
    exact = {"set": SET, "method": "no noise", "epsilon": float("inf"), "repetition": 0}
    noisy = [
        {"set": SET, "method": method, "epsilon": epsilon, "repetition": repetition}
        for method in METHODS
        for repetition in range(settings["repetitions"])
    ]
    return [exact, *noisy]


def run(trial: dict[str, Any], settings: dict[str, Any], data: Any, seed: Any) -> dict[str, Any]:
    """One pre-trained fit."""
    records = fits.split(SET, settings, data, 0)
    method = "as printed" if trial["method"] == "no noise" else trial["method"]
    model = fits.model(method, "public", trial["epsilon"], records, settings, seed)
    first, second = np.ravel(model.coef_)
    return {
        "weight_0": float(first),
        "weight_1": float(second),
        "intercept": float(np.ravel(model.intercept_)[0]),
        **records.accuracy(model),
    }


def summarize(rows: list[dict[str, Any]], settings: dict[str, Any]) -> str:
    """Accuracies, and how far boundaries turn."""
    printed = settings["published"]["training_accuracy"]
    exact = next(row for row in rows if row["method"] == "no noise")
    lines = [
        [
            fits.LABELS.get(method, "GD, no noise"),
            mean_error(column(mine, "training_accuracy"), 1),
            mean_error(column(mine, "test_accuracy"), 1),
            mean_error([angle(row, exact) for row in mine], 1),
        ]
        for method in ("no noise", *METHODS)
        if (mine := [row for row in rows if row["method"] == method])
    ]
    return (
        "The paper shows the boundary of one pre-trained model on its own data, with a training "
        f"accuracy of {printed:.2f} percent. Here: the synthetic set of two features, mean and "
        "standard error over runs; the angle is that between the normals of a boundary and of the "
        "one without noise, in degrees (90 is chance).\n\n"
        + markdown(["method", "training accuracy, %", "test accuracy, %", "angle"], lines)
    )


def angle(row: dict[str, Any], other: dict[str, Any]) -> float:
    """Between the normals of two boundaries, in degrees."""
    a, b = (np.array([r["weight_0"], r["weight_1"]]) for r in (row, other))
    cosine = a @ b / max(float(np.linalg.norm(a) * np.linalg.norm(b)), 1e-300)
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


def picture(rows: list[dict[str, Any]], settings: dict[str, Any], folder: Any, name: str) -> None:
    """A panel per method: the records, the boundary of every run, and that without noise."""
    records = fits.split(SET, settings, _Nothing(), 0)
    exact = next(row for row in rows if row["method"] == "no noise")
    figure, grid = axes(len(METHODS), width=3.4, height=3.4)
    for ax, method in zip(grid.flat, METHODS, strict=True):
        for label, color in ((0, "#bbbbbb"), (1, "#e69f00")):
            of_class = records.X[records.y == label]
            ax.scatter(*of_class.T, s=6, color=color, lw=0, label=f"class {label}")
        mine = [row for row in rows if row["method"] == method]
        color = COLORS[fits.KINDS[method]]
        for number, row in enumerate(mine):
            _line(ax, row, color=color, lw=0.8, alpha=0.6, label=None if number else "a run")
        _line(ax, exact, color="black", ls="--", lw=1.3, label="no noise")
        accuracy = mean_error(column(mine, "training_accuracy"), 1)
        ax.set_title(f"{fits.LABELS[method]}\n{accuracy} %", fontsize=9)
        ax.set(xlim=(-3, 3), ylim=(-3, 3), xlabel="feature 1", ylabel="feature 2", aspect="equal")
        ax.legend(fontsize=7, loc="upper right", frameon=True, framealpha=0.85)
    save(figure, folder, name)


def _line(ax: Any, row: dict[str, Any], **style: Any) -> None:
    """Where the margin is zero."""
    normal = np.array([row["weight_0"], row["weight_1"]])
    length = float(normal @ normal)
    if length == 0:
        return
    foot = -row["intercept"] / length * normal
    along = np.array([-normal[1], normal[0]]) / np.sqrt(length)
    ends = foot + np.outer([-20, 20], along)
    ax.plot(*ends.T, **style)


class _Nothing:
    """In place of data sets: the synthetic one needs none."""

    def kept(self, key: Any, make: Any) -> Any:
        return make()

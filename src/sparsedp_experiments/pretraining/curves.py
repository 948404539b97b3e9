"""Loss against iteration: Figures 4, 5 and 6 of Hoseinpour et al. (2023)."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from sparsedp.estimators import fit_public_model
from sparsedp.losses import Logistic
from sparsedp_experiments.framework.figure import COLORS, axes, level, save
from sparsedp_experiments.framework.table import column, markdown, mean_error
from sparsedp_experiments.pretraining import fits

COLUMNS = ("losses", "training_accuracy", "optimum", "null_loss")
METHODS = ("no noise", "as printed", "proven", "sound", "Pursuit")
TICKS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 1, 2, 5, 10, 20, 50, 100)
LABELS = {**fits.LABELS, "no noise": "GD, no noise"}


@dataclass(frozen=True)
class WatchedLogistic(Logistic):
    """The logistic loss, noting its mean at every point where a solver asks for residuals."""

    seen: list[float] = field(default_factory=list, compare=False)

    def residual(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """As ever; margins are those of the weights of the current step."""
        self.seen.append(mean_loss(margins, target))
        return super().residual(margins, target)


def mean_loss(margins: np.ndarray, target: np.ndarray) -> float:
    """Mean logistic loss of these margins."""
    return float(np.mean(np.logaddexp(0, margins) - target * margins))


def trials(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """Repetitions differ by their noise; the records are those of the first repetition."""
    return [
        {"set": name, "method": method, "epsilon": epsilon_of(method, settings), "repetition": i}
        for name in settings["sets"]
        for method in METHODS
        for i in range(1 if method == "no noise" else settings["repetitions"])
    ]


def epsilon_of(method: str, settings: dict[str, Any]) -> float:
    """Infinite where there is no noise."""
    return float("inf") if method == "no noise" else settings["epsilon"]


def run(trial: dict[str, Any], settings: dict[str, Any], data: Any, seed: Any) -> dict[str, Any]:
    """One fit, its loss in every step as numbers separated by spaces."""
    records = fits.split(trial["set"], settings, data, 0)
    loss = WatchedLogistic()
    watched = replace(records, private=records.private.minimizing(loss))
    method = "as printed" if trial["method"] == "no noise" else trial["method"]
    model = fits.model(method, settings["start"], trial["epsilon"], watched, settings, seed)
    last = mean_loss(model.decision_function(records.X), records.y)
    # Pursuit has rounds of its own, not steps of a descent: where it ends is enough.
    losses = [last] if method == "Pursuit" else [*loss.seen, last]
    best = fit_public_model(records.X, records.y, bounds=records.bounds, penalty=1e-6)
    share = float(np.mean(records.y))
    return {
        "losses": " ".join(f"{value:.6g}" for value in losses),
        "training_accuracy": records.accuracy(model)["training_accuracy"],
        "optimum": mean_loss(best.decision_function(records.X), records.y),
        "null_loss": mean_loss(np.full(len(records.y), np.log(share / (1 - share))), records.y),
    }


def curve(row: dict[str, Any]) -> np.ndarray:
    """The losses of a row."""
    return np.array(str(row["losses"]).split(), dtype=float)


def summarize(rows: list[dict[str, Any]], settings: dict[str, Any]) -> str:
    """Loss at the end, and accuracy."""
    printed = settings["published"]["training_accuracy"]
    begin = "from a public model" if settings["start"] == "public" else "from zero"
    parts = [
        f"The paper shows the curve of one run at epsilon = {settings['epsilon']:g}, {begin}, "
        f"without numbers but its training accuracy of {printed:.2f} percent, on its own data. "
        "Here: mean and standard error over runs on the same records.\n"
    ]
    for name in dict.fromkeys(row["set"] for row in rows):
        mine = [row for row in rows if row["set"] == name]
        lines = []
        for method in METHODS:
            found = [row for row in mine if row["method"] == method]
            first = np.mean([curve(row)[0] for row in found])
            lines.append(
                [
                    LABELS[method],
                    "" if method == "Pursuit" else f"{first:.3f}",
                    mean_error([curve(row)[-1] for row in found], 3),
                    mean_error(column(found, "training_accuracy"), 1),
                ]
            )
        parts.append(f"## {name}: {fits.SETS[name]}\n")
        parts.append(
            markdown(["method", "loss at the start", "at the end", "training accuracy, %"], lines)
        )
        parts.append(
            f"Least possible loss {mine[0]['optimum']:.3f}, of the class shares "
            f"{mine[0]['null_loss']:.3f}.\n"
        )
    return "\n".join(parts)


def picture(rows: list[dict[str, Any]], settings: dict[str, Any], folder: Any, name: str) -> None:
    """Median curves with bands of the middle 80 percent of runs, and one run as in the paper."""
    sets = list(dict.fromkeys(row["set"] for row in rows))
    figure, grid = axes(len(sets), width=4.0, height=3.2)
    for ax, panel in zip(grid.flat, sets, strict=True):
        mine = [row for row in rows if row["set"] == panel]
        highest = mine[0]["null_loss"]
        for method in ("as printed", "proven", "sound"):
            curves = np.array([curve(row) for row in mine if row["method"] == method])
            color, steps = COLORS[fits.KINDS[method]], np.arange(curves.shape[1])
            low, middle, high = np.quantile(curves, (0.1, 0.5, 0.9), axis=0)
            ax.fill_between(steps, low, high, color=color, alpha=0.15, lw=0)
            # Broad below: where noise is small, curves lie on each other.
            width = 3.5 if method == "as printed" else 1.5
            ax.plot(steps, middle, color=color, lw=width, label=LABELS[method])
            ax.plot(steps, curves[0], color=color, lw=0.8, ls=":")
            highest = max(highest, float(high.max()), float(curves[0].max()))
        exact = next(curve(row) for row in mine if row["method"] == "no noise")
        ax.plot(np.arange(len(exact)), exact, "--", color=COLORS["reference"], label="no noise")
        ends = [curve(row)[-1] for row in mine if row["method"] == "Pursuit"]
        level(ax, float(np.median(ends)), label="Pursuit, at its end", color=COLORS["pursuit"])
        lowest = 0.9 * min(mine[0]["optimum"], float(np.median(ends)))
        level(ax, mine[0]["null_loss"], label="class shares", color=COLORS["null"], linestyle="-")
        ax.set_title(panel, fontsize=9)
        ax.set_xlabel("iteration")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_ylabel("mean logistic loss")
        ax.set_xlim(0, len(exact) - 1)
        # Logarithmic: noise may throw a run far off, and no curve is to leave the axis.
        ax.set_yscale("log")
        ax.set_ylim(lowest, 1.15 * highest)
        ticks = [t for t in TICKS if lowest <= t <= 1.15 * highest]
        ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.minorticks_off()
    handles, labels = grid.flat[0].get_legend_handles_labels()
    handles.append(Line2D([], [], color="black", lw=0.8, ls=":"))
    labels.append("one run (lines: median, bands: 10 to 90 %)")
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)
    save(figure, folder, name)

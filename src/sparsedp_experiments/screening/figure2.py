"""Figure 2 of Khanna et al. on private screening rules."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.losses import Logistic, Loss, Squared
from sparsedp_experiments.framework.figure import COLORS, axes, level, save
from sparsedp_experiments.framework.table import markdown, mean_error
from sparsedp_experiments.screening import fits

TITLE = "Figure 2: Wolfe gap with private and with exact steps, screening without noise"
COLUMNS = ("iterations", "gaps", "null_gap")
LABELS = {
    "no noise": "exact steps",
    "published": "private steps, published",
    "proven": "private steps, proven",
    "sound": "private steps, safe rule",
}
NOTE = """The Wolfe gap in the units of the paper, median over draws of the set; screening without
noise in every iteration. The paper's curves are drawn, not printed; it says that the gap is
smaller with exact steps, for both losses. `Pursuit` takes no steps in a ball and has no such gap.
"""


@dataclass(frozen=True)
class Watch:
    """Notes the Wolfe gap of the mean loss at some of the points where steps are made."""

    data: Dataset
    radius: float
    factor: float
    steps: frozenset[int]
    count: list[int] = field(default_factory=lambda: [0])
    seen: dict[int, float] = field(default_factory=dict)
    margins: list[np.ndarray] = field(default_factory=list)

    def note(self, residual: np.ndarray) -> None:
        """Called at every step, where residuals of the last margins are clipped."""
        self.count[0] += 1
        if self.count[0] in self.steps:
            self.seen[self.count[0]] = self.factor * self.gap(self.margins[-1], residual)

    def gap(self, margins: np.ndarray, residual: np.ndarray) -> float:
        """The largest fall that the linearized loss promises in the ball, per record."""
        steepest = float(np.abs(self.data.rmatvec(residual)).max())
        return (float(margins @ residual) + self.radius * steepest) / self.data.n_records

    def null_gap(self, loss: Loss) -> float:
        """The gap without weights."""
        margins = np.zeros(self.data.n_records)
        return self.gap(margins, loss.residual(margins, self.data.target))


@dataclass(frozen=True)
class WatchedSquared(Squared):
    """The squared loss, watched."""

    watch: Watch

    def residual(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """As ever."""
        self.watch.margins[:] = [margins]
        return super().residual(margins, target)

    def clipped(self, residual: np.ndarray, bound: float) -> np.ndarray:
        """As ever: only a sum of gradients asks for it."""
        self.watch.note(residual)
        return super().clipped(residual, bound)


@dataclass(frozen=True)
class WatchedLogistic(Logistic):
    """The logistic loss, watched."""

    watch: Watch

    def residual(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """As ever."""
        self.watch.margins[:] = [margins]
        return super().residual(margins, target)

    def clipped(self, residual: np.ndarray, bound: float) -> np.ndarray:
        """As ever: only a sum of gradients asks for it."""
        self.watch.note(residual)
        return super().clipped(residual, bound)


def trials(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """Exact steps, and private ones of every calibration, on every draw."""
    return [
        {"set": task, "repetition": repetition, "steps": steps}
        for task in settings["tasks"]
        for repetition in range(settings["repetitions"])
        for steps in ("no noise", *settings["calibrations"])
    ]


def run(trial: dict[str, Any], settings: dict[str, Any], data: Any, seed: Any) -> dict[str, Any]:
    """One fit; gaps at about forty iterations, as numbers separated by spaces."""
    records = fits.drawn(trial["set"], trial["repetition"], settings)
    noted = np.unique(np.geomspace(1, settings["n_steps"], 40).round().astype(int))
    unit = records.half_range
    watch = Watch(records.data, settings["radius"] / unit, unit**2, frozenset(noted.tolist()))
    watched = WatchedSquared if trial["set"] == "linear" else WatchedLogistic
    records = replace(records, loss=watched(watch))
    calibration = "published" if trial["steps"] == "no noise" else trial["steps"]
    exact = "all" if trial["steps"] == "no noise" else "perturb"
    solver = fits.rule("every 1", calibration, records, settings)
    door = fits.curator(solver, records, settings, seed, exact)
    solver.solve(records.data, records.loss, door)
    null = watch.factor * watch.null_gap(records.loss)
    return {
        "iterations": " ".join(map(str, watch.seen)),
        "gaps": " ".join(f"{gap:.5g}" for gap in watch.seen.values()),
        "null_gap": null,
    }


def numbers(text: Any) -> np.ndarray:
    """The entries of a cell."""
    return np.array(str(text).split(), dtype=float)


def summarize(rows: list[dict[str, Any]], settings: dict[str, Any]) -> str:
    """The gap at the end."""
    lines = []
    for task in settings["tasks"]:
        for steps, label in LABELS.items():
            mine = [row for row in rows if (row["set"], row["steps"]) == (task, steps)]
            lines.append(
                [
                    task,
                    label,
                    mean_error(
                        [numbers(row["gaps"])[len(numbers(row["gaps"])) // 2] for row in mine], 3
                    ),
                    mean_error([numbers(row["gaps"])[-1] for row in mine], 3),
                    mean_error([row["null_gap"] for row in mine], 3),
                ]
            )
    middle = (
        f"at iteration {numbers(rows[0]['iterations'])[len(numbers(rows[0]['gaps'])) // 2]:.0f}"
    )
    header = ["loss", "steps", middle, "at the last iteration", "without weights"]
    return NOTE + "\nMean and standard error of the gap:\n\n" + markdown(header, lines)


def draw(rows: list[dict[str, Any]], settings: dict[str, Any], folder: Any) -> None:
    """A panel per loss."""
    tasks = settings["tasks"]
    figure, grid = axes(len(tasks), width=4.2, height=3.2)
    for ax, task in zip(grid.flat, tasks, strict=True):
        mine = [row for row in rows if row["set"] == task]
        for steps, label in LABELS.items():
            found = [row for row in mine if row["steps"] == steps]
            gaps = np.array([numbers(row["gaps"]) for row in found])
            at, color = (
                numbers(found[0]["iterations"]),
                COLORS["reference" if steps == "no noise" else steps],
            )
            ax.fill_between(at, gaps.min(axis=0), gaps.max(axis=0), color=color, alpha=0.15, lw=0)
            style = "--" if steps == "no noise" else "-"
            ax.plot(at, np.median(gaps, axis=0), style, color=color, label=label)
        null = float(np.mean([row["null_gap"] for row in mine]))
        level(ax, null, label="without weights", color=COLORS["null"], linestyle="-")
        ax.set_title(f"{task} regression", fontsize=9)
        ax.set_xlabel("iteration")
        ax.set_ylabel("Wolfe gap")
        ax.set_xscale("log")
        ax.set_yscale("log")
    handles, labels = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)
    save(figure, folder, "figure2")

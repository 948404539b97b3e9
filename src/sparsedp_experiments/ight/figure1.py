"""Figure 1 of Wang and Gu (2019)."""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from sparsedp.data.synthetic import Task, wang_gu
from sparsedp_experiments.framework.figure import COLORS, axes, level, save, series
from sparsedp_experiments.framework.fit import fitted, gated
from sparsedp_experiments.framework.table import column
from sparsedp_experiments.ight import methods

TITLE = "Figure 1: relative error of the weights against epsilon"
COLUMNS = ("relative_error", "n_found", "n_true", "proven_epsilon")
NOTE = """Mean relative error |estimate - truth| / |truth| and its standard error. A model without
weights has 1; above that a model is worse than none. The paper prints no numbers for this figure
and its curves are not in its text, so there is nothing to overlay.

The labels of the logistic panels follow the paper's formula, whose sign is opposite to its model;
the truth is taken with the sign that a fitted model estimates. The noise of Corollary 5.6 has an
undefined factor and is not bounded for squared loss; the published calibration is that of Remark
5.3 with records clipped, so that its Lipschitz constant holds. Its parameters were chosen without
any cost to epsilon, as in the paper; the other calibrations have the same ones.
"""


def trials(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """All methods on every draw."""
    return [
        {"set": panel, "repetition": repetition, **fit}
        for panel in settings["panels"]
        for repetition in range(
            min(settings["repetitions"], settings["most"].get(panel, settings["repetitions"]))
        )
        for fit in methods.fits(settings["epsilons"], settings)
    ]


def run(trial: dict[str, Any], settings: dict[str, Any], data: Any, seed: Any) -> dict[str, Any]:
    """One fit."""
    task, size = trial["set"].split("-")
    n_nonzero = settings["n_nonzero"][size]
    deviations = settings["target_deviations"]
    truth, records = drawn(
        task, int(size), n_nonzero, deviations, settings["data_seed"], trial["repetition"]
    )
    model = fitted(
        records,
        methods.solver(trial, parameters(trial["set"], n_nonzero, settings)),
        epsilon=trial["epsilon"],
        delta=settings["delta"],
        seed=seed,
        n_nonzero=n_nonzero,
        neighbors="replace_one",
    )
    weights = np.ravel(model.coef_)
    return {
        "relative_error": float(np.linalg.norm(weights - truth) / np.linalg.norm(truth)),
        "n_found": int(np.count_nonzero((weights != 0) & (truth != 0))),
        "n_true": n_nonzero,
        "proven_epsilon": float(model.privacy_.proven_epsilon),
    }


@lru_cache(maxsize=1)
def drawn(
    task: Task, size: int, n_nonzero: int, deviations: float, data_seed: int, repetition: int
) -> tuple[np.ndarray, Any]:
    """The truth, and gated records, of one repetition: the last one is kept, it may be large."""
    made = wang_gu(
        size, size, n_nonzero, task, seed=[data_seed, size, task == "linear", repetition]
    )
    if task == "linear":
        limit = deviations * target_deviation(size, n_nonzero)
        records = gated(
            made.X, made.y, made.bounds, fit_intercept=False, target_bounds=(-limit, limit)
        )
    else:
        records = gated(made.X, made.y, made.bounds, fit_intercept=False)
    return made.weights, records


def entry_variance(size: int, n_nonzero: int) -> float:
    """Of an entry of X: uniform on (-2, 2), rows then scaled to the norm 2 s*."""
    variance = 4 / 3
    return variance * min(1.0, (2 * n_nonzero) ** 2 / (size * variance))


def target_deviation(size: int, n_nonzero: int) -> float:
    """Standard deviation of a linear target: s* weights of variance 1/3, and noise of 0.1."""
    return math.sqrt(n_nonzero / 3 * entry_variance(size, n_nonzero) + 0.1)


def parameters(panel: str, n_nonzero: int, settings: dict[str, Any]) -> dict[str, Any]:
    """What `methods.solver` needs, from the public recipe."""
    task, size = panel.split("-")
    chosen = settings["chosen"][panel]
    variance = entry_variance(int(size), n_nonzero)
    curvature = variance * (0.25 if task == "logistic" else 1.0)
    step = chosen["relative_step"]
    half_range = 1.0
    if task == "linear":
        half_range = settings["target_deviations"] * target_deviation(int(size), n_nonzero)
    return {
        "n_steps": chosen["n_steps"],
        "step": step / curvature,
        "relative_step": step,
        "clip": chosen["relative_clip"] * 2 * n_nonzero,
        # Features lie in (-2, 2), targets in half ranges: unit weights are 2 / half_range times as
        # large. The mean absolute weight is one half.
        "radius": chosen["relative_radius"] * n_nonzero / 2 * 2 / half_range,
        "n_vertices": chosen["n_vertices"],
        "n_blocks": chosen["n_blocks"],
        "n_voted": settings["n_voted"],
        "reference_step": 0.5 / curvature,
        "reference_steps": settings["reference_steps"],
    }


def summarize(rows: list[dict[str, Any]], settings: dict[str, Any]) -> str:
    """A table per panel."""
    parts = [NOTE]
    for letter, panel in zip("abcd", settings["panels"], strict=False):
        mine = [row for row in rows if row["set"] == panel]
        if mine:
            parts.append(f"## ({letter}) {named(panel, settings)}\n")
            parts.append(methods.result_table(mine, "relative_error", 3, settings["epsilons"], {}))
    parts.append("## What the published calibrations prove, at replace-one neighbors\n")
    parts.append(methods.proven(rows, settings["epsilons"]))
    return "\n".join(parts)


def draw(rows: list[dict[str, Any]], settings: dict[str, Any], folder: Any) -> None:
    """Four panels."""
    panels = settings["panels"]
    figure, grid = axes(2, math.ceil(len(panels) / 2), width=4.2, height=3.1)
    for ax, letter, panel in zip(grid.flat, "abcd", panels, strict=False):
        mine = [row for row in rows if row["set"] == panel]
        draw_panel(ax, mine, settings)
        ax.set_title(f"({letter}) {named(panel, settings)}", fontsize=9)
        ax.set_xlabel("epsilon")
        ax.set_ylabel("relative error")
        ax.set_ylim(0.006 if panel.startswith("linear") else 0.1, 3)
        ax.set_yscale("log")
        ticks = [t for t in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2) if t >= ax.get_ylim()[0]]
        ax.set_yticks(ticks, labels=[f"{t:g}" for t in ticks])
        ax.minorticks_off()
        ax.set_xticks(settings["epsilons"])
    handles, labels = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", fontsize=8)
    save(figure, folder, "figure1")


def draw_panel(ax: Any, rows: list[dict[str, Any]], settings: dict[str, Any]) -> None:
    """A curve per method and calibration."""
    for method, calibration in dict.fromkeys((r["method"], r["calibration"]) for r in rows):
        mine = [r for r in rows if (r["method"], r["calibration"]) == (method, calibration)]
        if method == methods.REFERENCE:
            error = float(np.mean(column(mine, "relative_error")))
            level(ax, error, label="IGHT, no noise", color=COLORS["reference"])
            continue
        samples = [
            column([r for r in mine if r["epsilon"] == e], "relative_error")
            for e in settings["epsilons"]
        ]
        series(ax, settings["epsilons"], samples, **methods.look(method, calibration))
    level(ax, 1.0, label="no weights", color=COLORS["null"], linestyle="-")


def named(panel: str, settings: dict[str, Any]) -> str:
    """Title of a panel."""
    task, size = panel.split("-")
    return f"{task}, n = d = {size}, s* = {settings['n_nonzero'][size]}"

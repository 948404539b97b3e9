"""Fits of Sparsifier, two-stage, ADMM, IGHT and Pursuit over epsilon, for figures 1 to 5."""

from typing import Any

import numpy as np

from sparsedp_experiments.framework.data import Data
from sparsedp_experiments.framework.figure import COLORS, axes, epsilon_axis, level, save
from sparsedp_experiments.framework.fit import fitted
from sparsedp_experiments.framework.table import (
    column,
    grouped,
    markdown,
    mean_error,
    standard_error,
)
from sparsedp_experiments.private_lasso import methods, sets

COLUMNS = (
    "n_nonzero",
    "correct_zeros",
    "incorrect_zeros",
    "f1",
    "validation_accuracy",
    "test_error",
    "proven_epsilon",
)
N_TRUE = 8
"""Weights that are not zero in the synthetic set: the first eight."""

ADMMS = ("admm", "admm_half")
OTHERS = ("two_stage", *ADMMS, "ight")
ORDER = ("published", "proven", "sound")
TITLES = {
    "published": "published noise",
    "proven": "the same, proven noise",
    "sound": "improved variants",
}
TICKS = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
METHOD_COLORS = {
    "sparsifier": "#d55e00",
    "two_stage": "#0072b2",
    "admm": "#cc79a7",
    "admm_half": "#e0b0d0",
    "ight": "#e69f00",
    "pursuit": COLORS["pursuit"],
}


def trials(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """All fits of one set."""
    found: list[dict[str, Any]] = []
    where = {"set": settings["set"]}
    for method in ("optimum", "null"):
        radii = settings["radii"] if method == "optimum" else [0.0]
        found += [{**where, "method": method, "radius": radius} for radius in radii]
    for epsilon in settings["epsilons"]:
        for repetition in range(settings["repetitions"]):
            shared = {**where, "epsilon": epsilon, "repetition": repetition}
            extra = repetition < settings["extra_repetitions"]
            for calibration in settings["calibrations"]:
                setting = {**shared, "calibration": calibration}
                if calibration != "published" and not extra:
                    continue
                for radius in settings["radii"]:
                    found.append({**setting, "method": "sparsifier", "radius": radius})
                found += [{**setting, "method": m} for m in OTHERS if extra or m not in ADMMS]
            found.append({**shared, "calibration": "sound", "method": "pursuit"})
    return found


def run(
    trial: dict[str, Any], settings: dict[str, Any], data: Data, seed: np.random.SeedSequence
) -> dict[str, Any]:
    """One fit."""
    ready = sets.prepared(trial["set"], settings, data, validation=True)
    if trial["method"] == "null":
        return {
            **_found(np.zeros(ready.n_features)),
            "validation_accuracy": 0.0,
            "test_error": 1 - ready.majority(),
            "proven_epsilon": 0.0,
        }
    if trial["method"] == "optimum":
        model = _optimum(ready, trial["radius"], data)
    else:
        records, solver = _solver(ready, trial, settings, data)
        model = fitted(
            records,
            solver,
            epsilon=trial["epsilon"],
            delta=ready.delta,
            seed=seed,
            n_nonzero=settings["n_nonzero"],
        )
    return {
        **_found(model.coef_[0]),
        "validation_accuracy": ready.scores(model, ready.validation)["accuracy"],
        "test_error": 1 - ready.scores(model)["accuracy"],
        "proven_epsilon": model.privacy_.proven_epsilon,
    }


def _optimum(ready: Any, radius: float, data: Data) -> Any:
    return data.kept(("optimum", ready.source, radius), lambda: ready.optimum(radius))


def _solver(
    ready: Any, trial: dict[str, Any], settings: dict[str, Any], data: Data
) -> tuple[Any, Any]:
    """The records that a method sees, and the method."""
    calibration, k = trial["calibration"], settings["n_nonzero"]
    match trial["method"]:
        case "sparsifier":
            return ready.box, methods.sparsifier(
                calibration,
                trial["radius"],
                settings["n_steps"],
                _optimum(ready, trial["radius"], data).coef_[0],
                settings["count_epsilon"] / trial["epsilon"],
            )
        case "two_stage":
            blocks, radius = settings["two_stage_blocks"], settings["two_stage_radius"]
            return ready.rows, methods.two_stage(calibration, k, blocks, radius)
        case "admm":
            return ready.rows, methods.admm(calibration, "l1", settings)
        case "admm_half":
            return ready.rows, methods.admm(calibration, "l1/2", settings)
        case "ight":
            return ready.rows, methods.ight(calibration, k, settings)
        case _:
            return ready.natural, methods.pursuit()


def _found(w: np.ndarray) -> dict[str, Any]:
    """What a model found of the synthetic set's true weights; of no meaning for other sets."""
    right = int(np.count_nonzero(w[:N_TRUE]))
    wrong = int(np.count_nonzero(w[N_TRUE:]))
    return {
        "n_nonzero": right + wrong,
        "correct_zeros": len(w) - N_TRUE - wrong,
        "incorrect_zeros": N_TRUE - right,
        "f1": 2 * right / (2 * right + wrong + N_TRUE - right),
    }


def best_radius(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of rows that differ by radius, those with the best mean accuracy on the validation part."""
    by_radius = grouped(rows, "radius")
    return max(by_radius.values(), key=lambda some: np.mean(column(some, "validation_accuracy")))


def curves(rows: list[dict[str, Any]], metric: str) -> dict[tuple[str, str], dict[float, Any]]:
    """Values by method and calibration, then by epsilon."""
    found: dict[tuple[str, str], dict[float, Any]] = {}
    private = [row for row in rows if "epsilon" in row]
    for (method, calibration, epsilon), some in grouped(
        private, "method", "calibration", "epsilon"
    ).items():
        chosen = best_radius(some) if method == "sparsifier" else some
        found.setdefault((method, calibration), {})[epsilon] = column(chosen, metric)
    return found


def reference(rows: list[dict[str, Any]], method: str, metric: str) -> float:
    """The model without privacy at the radius that validation prefers, or the null model."""
    some = [row for row in rows if row["method"] == method]
    return float(column(best_radius(some), metric)[0])


def summarize(rows: list[dict[str, Any]], metric: str, digits: int, note: str) -> str:
    """A table of one metric: a line per method, a column per epsilon."""
    epsilons = sorted({row["epsilon"] for row in rows if "epsilon" in row})
    lines: list[Any] = []
    for (method, calibration), values in curves(rows, metric).items():
        cells = [mean_error(values[e], digits) for e in epsilons]
        place = (method == "pursuit", ORDER.index(calibration))
        lines.append((place, [methods.named(method, calibration), *cells]))
    lines = [line for _, line in sorted(lines, key=lambda pair: pair[0])]
    for method, label in (("optimum", "non-private optimum"), ("null", "null model")):
        value = reference(rows, method, metric)
        lines.append([label, *[f"{value:.{digits}f}"] * len(epsilons)])
    header = ["method", *(f"epsilon = {epsilon:g}" for epsilon in epsilons)]
    chosen = [
        [f"{epsilon:g}", *(best_radius(some)[0]["radius"] for some in _sparsifiers(rows, epsilon))]
        for epsilon in epsilons
    ]
    return "\n".join(
        [
            note + "\n",
            markdown(header, lines),
            "Radius that the validation part chose for Sparsifier:\n",
            markdown(["epsilon", *(methods.named("sparsifier", c) for c in kinds(rows))], chosen),
        ]
    )


def _sparsifiers(rows: list[dict[str, Any]], epsilon: float) -> list[list[dict[str, Any]]]:
    of = grouped(rows, "method", "calibration", "epsilon")
    return [of["sparsifier", calibration, epsilon] for calibration in kinds(rows)]


def kinds(rows: list[dict[str, Any]]) -> list[str]:
    """Calibrations that there are, in order."""
    return [kind for kind in ORDER if any(row.get("calibration") == kind for row in rows)]


def draw(
    rows: list[dict[str, Any]],
    metric: str,
    axis: str,
    folder: Any,
    name: str,
    *,
    limit: tuple[float, str] | None = None,
    null: str | None = None,
    logarithmic: bool = False,
) -> None:
    """A panel for each calibration; ``limit`` is a known value, ``null`` names a constant."""
    shown = kinds(rows)
    figure, (panels,) = axes(len(shown), width=3.6, height=3.8)
    found = curves(rows, metric)
    for ax, calibration in zip(panels, shown, strict=True):
        if limit is not None:
            level(ax, limit[0], label=limit[1], color="black", linestyle="-")
        if null is not None:
            value = reference(rows, "null", metric)
            level(ax, value, label=null, color=COLORS["null"], linestyle=":")
        for (method, which), values in found.items():
            if which != calibration and method != "pursuit":
                continue
            epsilons = sorted(values)
            ax.errorbar(
                epsilons,
                [np.mean(values[e]) for e in epsilons],
                [standard_error(values[e]) for e in epsilons],
                label=methods.NAMES[method],
                color=METHOD_COLORS[method],
                marker="D" if method == "pursuit" else "o",
                markersize=3.5,
                capsize=2,
                linewidth=1.3,
            )
        exact = reference(rows, "optimum", metric)
        label = "non-private optimum"
        level(ax, exact, label=label, color=COLORS["reference"], linestyle=(0, (2, 2)))
        epsilon_axis(ax, sorted({row["epsilon"] for row in rows if "epsilon" in row}))
        ax.set_title(TITLES[calibration], fontsize=9)
    for ax in panels[1:]:
        ax.sharey(panels[0])
    panels[0].set_ylabel(axis)
    if logarithmic:
        panels[0].set_yscale("log")
        ticks = [t for t in TICKS if _within(t, panels[0].get_ylim())]
        panels[0].set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        panels[0].minorticks_off()
    else:
        panels[0].margins(y=0.06)  # a line at an end of the scale is seen
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize=8)
    save(figure, folder, name)


def _within(value: float, limits: tuple[float, float]) -> bool:
    return limits[0] <= value <= limits[1]

"""The methods that Wang and Gu (2019) compare, and how they look in figures."""

import math
from typing import Any

from sparsedp.solvers import IGHT, FrankWolfe, ObjectivePerturbation, Pursuit, Solver, TwoStage
from sparsedp_experiments.framework.figure import COLORS
from sparsedp_experiments.framework.table import column, markdown, mean_error

COMPARED = ("DP-IGHT", "Frank-Wolfe", "Two stage")
REFERENCE = "IGHT"
SHAPES = {
    "DP-IGHT": {"marker": "o", "linestyle": "-"},
    "Frank-Wolfe": {"marker": "s", "linestyle": "--"},
    "Two stage": {"marker": "^", "linestyle": ":"},
    "Pursuit": {"marker": "D", "linestyle": "-"},
}
IMPROVED = {
    "DP-IGHT": "IGHT, adapted steps",
    "Frank-Wolfe": "Frank-Wolfe, averaged and clipped",
    "Two stage": "Two stage, own shares",
}
"""The methods as the library has them by default: more than their noise is different."""


def fits(epsilons: list[float], settings: dict[str, Any]) -> list[dict[str, Any]]:
    """Method, calibration and epsilon of all fits to one draw of records."""
    found: list[dict[str, Any]] = [
        {"method": REFERENCE, "calibration": "none", "epsilon": math.inf},
    ]
    for epsilon in epsilons:
        found += [
            {"method": method, "calibration": calibration, "epsilon": epsilon}
            for method in settings["methods"]
            for calibration in settings["calibrations"]
        ]
        found.append({"method": "Pursuit", "calibration": "sound", "epsilon": epsilon})
    return found


def solver(trial: dict[str, Any], chosen: dict[str, Any]) -> Solver:
    """The solver of a trial, with the parameters that the paper leaves to cross-validation.

    Parameters
    ----------
    trial : dict
    chosen : dict
        ``n_steps``, ``step`` (on the mean gradient), ``relative_step`` (the same over the inverse
        curvature along an average feature, as the sound calibration wants it), ``clip`` (of a
        record's gradient), ``n_vertices``, ``radius`` (unit coordinates), ``n_blocks``,
        ``reference_step``, ``reference_steps``.
    """
    method, calibration = trial["method"], trial["calibration"]
    if method == REFERENCE:
        return IGHT(
            n_steps=chosen["reference_steps"],
            step_size=chosen["reference_step"],
            calibration="published",
        )
    if method == "DP-IGHT":
        step = chosen["relative_step" if calibration == "sound" else "step"]
        return IGHT(
            n_steps=chosen["n_steps"],
            step_size=step,
            clip=chosen["clip"],
            calibration=calibration,
        )
    if method == "Frank-Wolfe":
        return FrankWolfe(
            radius=chosen["radius"], n_steps=chosen["n_vertices"], calibration=calibration
        )
    if method == "Two stage":
        return TwoStage(
            n_blocks=chosen["n_blocks"],
            voter=FrankWolfe(radius=chosen["radius"], n_steps=chosen["n_voted"]),
            solver=ObjectivePerturbation(calibration=calibration),
            calibration=calibration,
        )
    return Pursuit()


def look(method: str, calibration: str) -> dict[str, Any]:
    """Style of a curve: its color says the calibration, its marker the method."""
    kind = "pursuit" if method == "Pursuit" else calibration
    return {"label": named(method, calibration), "color": COLORS[kind], **SHAPES[method]}


def named(method: str, calibration: str) -> str:
    """As it is called everywhere: with its noise, or by the name of the improved variant."""
    if method == "Pursuit":
        return method
    return IMPROVED[method] if calibration == "sound" else f"{method}, {calibration}"


def result_table(
    rows: list[dict[str, Any]],
    value: str,
    digits: int,
    epsilons: list[float],
    printed: dict[str, list[str]],
) -> str:
    """A line per method and calibration, a column per epsilon; what the paper prints on top."""
    header = ["method", "calibration", *(f"ε = {epsilon:g}" for epsilon in epsilons)]
    lines: list[list[Any]] = [
        [method, "printed in the paper", *cells] for method, cells in printed.items()
    ]
    for method, calibration in dict.fromkeys((r["method"], r["calibration"]) for r in rows):
        mine = [r for r in rows if (r["method"], r["calibration"]) == (method, calibration)]
        if method == REFERENCE:
            cells = [mean_error(column(mine, value), digits)] * len(epsilons)
        else:
            cells = [
                mean_error(column([r for r in mine if r["epsilon"] == e], value), digits)
                for e in epsilons
            ]
        lines.append([method, "no noise" if method == REFERENCE else calibration, *cells])
    return markdown(header, lines)


def proven(rows: list[dict[str, Any]], epsilons: list[float]) -> str:
    """What the published calibrations prove at each claimed epsilon, as a table."""
    lines = []
    for method in dict.fromkeys(r["method"] for r in rows if r["calibration"] == "published"):
        cells = []
        for epsilon in epsilons:
            found = {
                r["proven_epsilon"]
                for r in rows
                if (r["method"], r["calibration"], r["epsilon"]) == (method, "published", epsilon)
            }
            worst = max(found, default=math.nan)
            cells.append("nothing" if math.isinf(worst) else f"{worst:.3g}")
        lines.append([method, *cells])
    return markdown(["claimed", *(f"ε = {e:g}" for e in epsilons)], lines)

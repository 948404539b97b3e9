"""Choose what Wang and Gu (2019) leave to cross-validation, and keep all that was tried.

``python -m sparsedp_experiments.ight.choose --data DIR`` writes choices.csv beside this file. Text
sets are judged on a fifth of their training records, held out; synthetic panels on draws that no
trial uses. One parameter after another is moved along its ladder until both neighbors do worse
(Frank-Wolfe on text, which is quick, tries all combinations), so that no choice lies on an edge of
what was tried. The noise is the published one, at the smallest and the largest epsilon; the score
is the mean logarithm of the error.
"""

import csv
import math
import sys
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from sparsedp_experiments.framework.data import Data
from sparsedp_experiments.framework.registry import ROOT, Experiment
from sparsedp_experiments.ight import figure1, text

Parameters = dict[str, float]
HERE = Path(__file__).parent
TABLE = HERE / "choices.csv"
EPSILONS = (2, 10)
RUNS = {"rcv1_vw": 4, "linear-1000": 4, "logistic-1000": 4}
"""Runs that a score is the mean of, where one says little; elsewhere one."""
LADDERS: dict[str, tuple[float, ...]] = {
    "n_steps": (1, 2, 5, 10, 20, 50, 100, 200, 500),
    "step": (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000),
    "relative_step": (0.01, 0.03, 0.1, 0.3, 1, 3, 10),
    "clip": (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3),
    "relative_clip": (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3),
    "n_vertices": (1, 2, 5, 10, 20, 50, 100, 200),
    "radius": (5, 10, 20, 40, 80, 160, 320, 640),
    "relative_radius": (0.0625, 0.125, 0.25, 0.5, 1, 2, 4),
    "n_blocks": (2, 3, 5, 10, 20, 50, 100),
}
OF_METHOD = {
    "DP-IGHT": (("n_steps", "step", "clip"), ("n_steps", "relative_step", "relative_clip")),
    "Frank-Wolfe": (("n_vertices", "radius"), ("n_vertices", "relative_radius")),
    "Two stage": (("n_blocks",), ("n_blocks",)),
}
"""What is moved for a method: on text sets, and on synthetic panels."""


def best_of_all(names: tuple[str, ...], score: Callable[[Parameters], float]) -> Parameters:
    """Of all combinations, for what is quick and has more than one minimum.

    The smallest ball, then the fewest vertices, of those within a percent of the best: labels
    hardly depend on the size of a large ball.
    """
    tried = [dict(zip(names, v, strict=True)) for v in product(*(LADDERS[n] for n in names))]
    least = min(map(score, tried))
    close = [parameters for parameters in tried if score(parameters) <= least + 0.01]
    return min(close, key=lambda parameters: [parameters[name] for name in reversed(names)])


def descend(
    start: Parameters, names: tuple[str, ...], score: Callable[[Parameters], float]
) -> Parameters:
    """Move one parameter at a time along its ladder until no neighbor is better."""
    best, moved = {name: start[name] for name in names}, True
    while moved:
        moved = False
        for name in names:
            for direction in (1, -1):
                while (near := neighbor(best, name, direction)) and score(near) < score(best):
                    best, moved = near, True
    return best


def neighbor(parameters: Parameters, name: str, direction: int) -> Parameters | None:
    """One rung up or down; None at an end of the ladder."""
    ladder = LADDERS[name]
    place = ladder.index(parameters[name]) + direction
    return {**parameters, name: ladder[place]} if 0 <= place < len(ladder) else None


def text_error(name: str, settings: dict[str, Any], data: Data) -> Callable[..., float]:
    """Error on held-out training records as a function of a trial, parameters and a seed."""
    judged = text.held_out(name, settings, data)
    regression = name in settings.get("target_bounds", {})

    def error(trial: dict[str, Any], chosen: dict[str, Any], seed: Any) -> float:
        found = text.fit(trial, chosen, settings, judged.train, seed).predict(judged.X)
        return float(np.mean((found - judged.y) ** 2 if regression else found != judged.y))

    return error


def panel_error(panel: str, settings: dict[str, Any], data: Data) -> Callable[..., float]:
    """Relative error on a draw that no trial uses."""

    def error(trial: dict[str, Any], chosen: dict[str, Any], seed: Any) -> float:
        here = {**settings, "chosen": {panel: chosen}}
        return figure1.run({**trial, "set": panel}, here, data, seed)["relative_error"]

    return error


def choose(
    experiment: str, name: str, error: Callable[..., float], settings: dict[str, Any], writer: Any
) -> None:
    """Choose for all methods on one set, writing every score."""
    ball: Parameters = {}
    for method, (on_text, on_panels) in OF_METHOD.items():
        names = on_panels if experiment == "figure1" else on_text
        start = {**settings["chosen"][name], **ball}  # Two stage votes in the ball that was chosen
        seen: dict[tuple[float, ...], float] = {}

        def score(
            moved: Parameters,
            method: str = method,
            names: Any = names,
            seen: Any = seen,
            start: Any = start,
        ) -> float:
            key = tuple(moved[n] for n in names)
            chosen = {**start, **moved}
            if key not in seen:
                errors = []
                for epsilon in EPSILONS:
                    trial = {"method": method, "calibration": "published", "epsilon": epsilon}
                    found = [
                        error({**trial, "repetition": 10_000 + run}, chosen, _seed(epsilon, run))
                        for run in range(RUNS.get(name, 1))
                    ]
                    errors.append(float(np.mean(found)))
                    writer.writerow(
                        [experiment, name, method, _pairs(names, key), epsilon, f"{errors[-1]:.5g}"]
                    )
                seen[key] = float(np.mean(np.log(errors)))
            return seen[key]

        quick = method == "Frank-Wolfe" and experiment != "figure1"
        best = best_of_all(names, score) if quick else descend(start, names, score)
        if method == "Frank-Wolfe":
            ball = {n: best[n] for n in names if n.endswith("radius")}
        print(f"{experiment} {name} {method}: {best}, {math.exp(score(best)):.4f}", flush=True)


def _seed(epsilon: int, run: int) -> np.random.SeedSequence:
    return np.random.SeedSequence([2019, epsilon, run])


def _pairs(names: tuple[str, ...], values: tuple[float, ...]) -> str:
    return " ".join(f"{name}={value:g}" for name, value in zip(names, values, strict=True))


def main() -> None:
    """All sets, or those that are named."""
    folder = Path(sys.argv[sys.argv.index("--data") + 1]) if "--data" in sys.argv else None
    only = sys.argv[sys.argv.index("--sets") + 1].split(",") if "--sets" in sys.argv else None
    data = Data(folder=folder)
    warnings.simplefilter("ignore")  # every fit would say that it is seeded and unproven
    with TABLE.open("a" if only else "w", newline="", encoding="utf-8", buffering=1) as file:
        writer = csv.writer(file, lineterminator="\n")
        if not only:
            writer.writerow(["experiment", "set", "method", "parameters", "epsilon", "error"])
        for experiment in ("table3", "table2", "figure1"):
            settings = (
                Experiment("ight", experiment, ROOT / "ight" / f"{experiment}.py").settings().merged
            )
            made = panel_error if experiment == "figure1" else text_error
            for name in settings["chosen"]:
                if only is None or name in only:
                    data.enter(name)
                    try:
                        error = made(name, settings, data)
                    except Exception as problem:
                        print(f"{name}: {problem}")
                        continue
                    choose(experiment, name, error, settings, writer)


if __name__ == "__main__":
    main()

"""Effects that are promised to rise or to fall: made so from what was released, at no charge."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from sparsedp.data.bend import Bend
from sparsedp.fit.problem import Problem
from sparsedp.solvers import Solution, SolutionPath

Direction = Literal["increasing", "decreasing"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)

Monotone = Mapping[str | int, Direction]
"""As users write it: features by name or position."""

Directions = Mapping[int, Direction]
"""By position."""

HOW_TO_WRITE = 'write monotone={"age": "increasing"}, by names or positions of features'


def checked_monotone(given: object) -> dict[str | int, Direction]:
    """What users wrote, if it can be read; which features there are is not known yet."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ValueError(f"monotone must be a mapping: {HOW_TO_WRITE}")
    found: dict[str | int, Direction] = {}
    for name, direction in given.items():
        whole = isinstance(name, int | np.integer) and not isinstance(name, bool)
        if not whole and not isinstance(name, str):
            raise ValueError(f"monotone has {name!r:.60}, which is no feature: {HOW_TO_WRITE}")
        if direction not in DIRECTIONS:
            raise ValueError(f"monotone has {direction!r:.60}, not one of {DIRECTIONS}")
        found[name if isinstance(name, str) else int(name)] = direction
    return found


def directions_of(monotone: Monotone, problem: Problem) -> dict[int, Direction]:
    """The same by position, in ascending order; refuses what this problem has not."""
    if monotone and problem.loss.n_outputs > 1:
        raise ValueError(
            "monotone is for two classes, numbers and counts: with more classes a score that rises "
            "may still lower the probability of its class"
        )
    data = problem.data
    names = data.bounds.features or data.feature_names or ()
    place = {str(name): j for j, name in enumerate(names)}
    found: dict[int, Direction] = {}
    for name, direction in monotone.items():
        j = _position(name, place) if isinstance(name, str) else name
        if not 0 <= j < data.n_features:
            raise ValueError(f"monotone has {name!r:.60}, which is no feature: {HOW_TO_WRITE}")
        if found.setdefault(j, direction) != direction:
            raise ValueError(f"monotone has {name!r:.60} twice, in different directions")
    return dict(sorted(found.items()))


def _position(name: str, place: Mapping[str, int]) -> int:
    """Of a feature by name; where features have none, of its number written as text."""
    numbered = not place and name.isdecimal() and len(name) < 10
    return int(name) if numbered else place.get(name, -1)


def made_monotone(solution: Solution, directions: Directions) -> Solution:
    """The solution whose effects do as promised, closest to the given one at the knots.

    Of one output. An effect is projected with equal weights on its knots, which are quantiles; its
    mean over them stays, so that what the effect loses of a constant goes to the intercept.

    Notes
    -----
    *Privacy.* A function of releases and public settings.
    """
    if not directions:
        return solution
    weights, bends = solution.weights.copy(), {bend.feature: bend for bend in solution.bends}
    for j, direction in directions.items():
        weights[j], bend, shift = _projected(weights[j], bends.pop(j, None), direction)
        if bend is not None:
            bends[j] = bend
        if shift:  # bends come with an intercept only
            weights[-1] += shift
    return replace(
        solution,
        weights=weights,
        bends=tuple(bends[j] for j in sorted(bends)),
        path=None if solution.path is None else _path(solution.path, directions),
    )


def _path(path: SolutionPath, directions: Directions) -> SolutionPath:
    """Every model of the path by itself."""
    weights, intercepts = path.weights.copy(), path.intercepts.copy()
    place = {int(j): i for i, j in enumerate(path.order)}
    steps = []
    for k in range(len(path.order)):
        bends = {bend.feature: bend for bend in path.bends[k]} if path.bends else {}
        for j in directions:
            if place.get(j, k + 1) > k:
                continue
            at = k, place[j], 0
            weights[at], bend, shift = _projected(weights[at], bends.pop(j, None), directions[j])
            if bend is not None:
                bends[j] = bend
            intercepts[k, 0] += shift
        steps.append(tuple(bends[j] for j in sorted(bends)))
    return replace(
        path, weights=weights, intercepts=intercepts, bends=tuple(steps) if path.bends else ()
    )


def _projected(
    weight: float, bend: Bend | None, direction: Direction
) -> tuple[float, Bend | None, float]:
    """Weight and bend of the closest monotone effect, and what the intercept gains."""
    sign = 1.0 if direction == "increasing" else -1.0
    if bend is None:  # the mean over the ends, -1 and 1, of a line without a constant is zero
        return (0.0 if sign * weight < 0 else weight), None, 0.0
    knots, height = bend.knots, weight * bend.knots + bend.heights[:, 0]
    pooled = sign * isotonic(sign * height)
    if not math.isfinite(weight) or np.array_equal(pooled, height):
        return weight, bend, 0.0
    chord = float((pooled[-1] - pooled[0]) / (knots[-1] - knots[0]))
    shift = float(pooled[0] - chord * knots[0])
    left = pooled - (chord * knots + shift)
    left[[0, -1]] = 0.0
    return chord, replace(bend, heights=left[:, None]) if left.any() else None, shift


def isotonic(values: np.ndarray) -> np.ndarray:
    """The closest sequence that never falls: pool adjacent violators, all weights equal."""
    means: list[float] = []
    sizes: list[int] = []
    for value in values.tolist():
        mean, size = value, 1
        while means and means[-1] > mean:
            last, count = means.pop(), sizes.pop()
            mean, size = (mean * size + last * count) / (size + count), size + count
        means.append(mean)
        sizes.append(size)
    return np.repeat(means, sizes)

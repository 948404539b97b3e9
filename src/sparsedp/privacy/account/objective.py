"""The cost of objective perturbation, as a discrete privacy loss that composes with all others.

A random linear term is added to a strongly convex objective and the minimum is published. The
privacy loss of the exact minimum is at most the largest, over what a record's gradient can be,
of a log-determinant plus the loss of a Gaussian shift (proof: solvers/objective/objective.md).
Where a unit of protection is a person with several rows, any of these may count, and add up to
more than one row's determinant (the same note, *People*).
"""

import math
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from sparsedp.privacy.account.cost import Atoms

N_CELLS = 20_000
"""Cells of the discrete loss; every value is rounded up to the end of its cell."""

N_TANGENTS = 128
"""Cells between no gradient and the largest, for the majorant of the log-determinant."""

ROUNDING = 0.01
"""Part of a minimum's mu (or epsilon) for the noise that covers its being inexact."""

SLACK = 1e-12
"""Added to every log-determinant: above rounding."""


class LinearTerm(Protocol):
    """What the loss of a perturbed minimum depends on (events/perturbed_minimum.py); hashable."""

    @property
    def mu(self) -> float:
        """Largest shift of the gradient over the noise of the linear term."""
        ...

    @property
    def ratio(self) -> float:
        """Largest curvature of a record over that of the regularization."""
        ...

    @property
    def shape(self) -> str:
        """How a record's curvature and gradient go together."""
        ...

    @property
    def neighbors(self) -> str:
        """The relation that ``mu`` was counted for."""
        ...

    @property
    def n_outputs(self) -> int:
        """Classes of a multinomial loss."""
        ...

    @property
    def rows_per_unit(self) -> int:
        """Most rows of one unit of protection; their weights add up to at most one."""
        ...


class Lines(NamedTuple):
    """Losses ``height + q^2 / 2 + q z``, the largest of which counts, for one Gaussian z.

    ``weight`` Gaussians may be in play; they need not be independent (union bound).
    """

    weight: float
    q: NDArray[np.float64]
    height: NDArray[np.float64]


@lru_cache(maxsize=64)
def minimum_atoms(event: LinearTerm, tail: float) -> Atoms:
    """Upper bound on the privacy loss of a perturbed minimum, in either direction.

    Parameters
    ----------
    event : LinearTerm
    tail : float
        About this mass counts as infinite loss.
    """
    families = _families(event)
    z = -float(ndtri(tail))
    top = max(float(np.max(f.height + f.q**2 / 2 + f.q * z)) for f in families)
    losses = np.linspace(0.0, top, N_CELLS + 1)
    survival = np.zeros_like(losses)
    for family in families:
        survival += family.weight * _survival(family, losses)
    survival = np.minimum(survival, 1.0)
    masses = -np.diff(survival, prepend=1.0)
    # What lies between two nodes counts as the upper one.
    return Atoms(losses, np.maximum(masses, 0.0), float(survival[-1]))


def pure_determinant(
    ratio: float, shape: str, n_outputs: int, rows_per_unit: int | None = 1
) -> float:
    """Largest log-determinant that one unit of protection adds, whatever its gradient.

    Parameters
    ----------
    ratio : float
        Largest curvature of one record's loss over the curvature of the regularization.
    shape : str
        As in events/perturbed_minimum.py.
    n_outputs : int
        Classes of a multinomial loss.
    rows_per_unit : int or None
        Most rows of one unit, whose weights add up to at most one; None for any number.
    """
    # As many eigenvalues as rows (times K - 1); for a given sum of them the determinant is largest
    # where all are the same. For any number of rows it is at most the sum itself.
    if shape == "multinomial":
        # The sum is at most (1 - 1/K) row^2, the largest of them row^2 / 2.
        if rows_per_unit is None:
            return 2 * (1 - 1 / n_outputs) * ratio
        corners = rows_per_unit * (n_outputs - 1)
        return corners * math.log1p(2 * ratio / (n_outputs * rows_per_unit))
    if rows_per_unit is None:
        return ratio
    return rows_per_unit * math.log1p(ratio / rows_per_unit)


def _families(event: LinearTerm) -> list[Lines]:
    """Which losses are possible, by the shape of the loss, the neighbor relation and the unit."""
    mu, ratio, rows = event.mu, event.ratio, event.rows_per_unit
    flat = pure_determinant(ratio, event.shape, event.n_outputs, rows) + SLACK
    corners = rows * (event.n_outputs - 1)  # of what a unit's gradient can be, several classes
    if event.neighbors == "replace_one":
        # The replaced unit adds its own Gaussian shift; mu is the shift when both are largest
        # and opposite. The log-determinant of the new one only helps and is left out.
        match event.shape:
            case "logistic" | "log_cosh" | "any":
                return _replaced(event, flat)
            case "multinomial":
                return [_flat(corners**2, mu, flat), _flat(2 * corners, mu / 2, flat)]
            case unknown:
                raise ValueError(f"no cost is proven for the shape {unknown!r}")
    several = rows > 1
    match event.shape:
        case "logistic":
            return [_joint(rows, mu, ratio, ("logistic",), several=several)]
        case "multinomial":
            return [_flat(corners, mu, flat)]
        case "log_cosh":
            return [_joint(2 * rows, mu, ratio, ("log_cosh",), several=several)]
        case "any":
            return [_joint(2 * rows, mu, ratio, ("logistic", "log_cosh"), several=several)]
        case unknown:
            raise ValueError(f"no cost is proven for the shape {unknown!r}")


def _replaced(event: LinearTerm, flat: float) -> list[Lines]:
    """One unit for another, one output: a log-determinant that vanishes with the largest gradient.

    It is at most ``flat``, and at most ``steep * (1 - t)`` where the gradient of the unit that goes
    has t times its largest size: between 0, ``bend`` and 1 the loss is convex, so one of them is
    the worst. Any larger bend is as true, and one is where all of ``flat`` is paid.
    """
    mu, rows = event.mu, event.rows_per_unit
    steep = (2 if event.shape == "log_cosh" else 4) * event.ratio
    bend = min(max(1 - flat / steep, 0.0) + SLACK, 1.0)
    if event.shape == "logistic":  # the label fixes the sign: nothing, or up to the largest
        return [
            _flat(rows**2, mu, SLACK),
            _flat(rows, mu / 2, SLACK),
            _flat(rows**2, mu * (1 + bend) / 2, flat),
            _flat(rows, mu * bend / 2, flat),
            _flat(rows, mu / 2, flat),
        ]
    pairs = 2 * rows**2  # signs: two pairs of opposite shifts, not both of them long
    return [
        _flat(pairs, mu, SLACK),
        _flat(pairs, mu / math.sqrt(2), SLACK),
        _flat(pairs, mu * (1 + bend) / 2, flat),
        _flat(pairs, mu * math.hypot(1, bend) / 2, flat),
    ]


def _flat(weight: float, mu: float, height: float) -> Lines:
    """No gradient or the largest: in between the loss is convex, so the ends are the worst."""
    return Lines(weight, np.array([0.0, mu]), np.array([height, height]))


def _joint(
    weight: float, mu: float, ratio: float, shapes: tuple[str, ...], *, several: bool
) -> Lines:
    """Curvature that vanishes as the gradient grows, by a piecewise linear majorant.

    The log-determinant, or with ``several`` rows the trace that bounds it, is concave in the size t
    of the gradient: its tangents at the nodes lie above it, the Gaussian part is convex, so the
    largest loss is at a node or where two tangents meet.
    """
    t = np.linspace(0.0, 1.0, N_TANGENTS + 1)
    places, heights = [], []
    for shape in shapes:
        if shape == "logistic":  # f'' = |f'| (1 - |f'|), at most 1/4
            # A long row that counts for little may be at its most curved with a small gradient.
            s = np.maximum(t, 0.5)
            curvature, slope = 4 * s * (1 - s), 4 * (1 - 2 * s)
        else:  # log-cosh: f'' = 1 - f'^2
            curvature, slope = (1 - t) * (1 + t), -2 * t
        if several:
            value, slope = ratio * curvature, ratio * slope
        else:
            value = np.log1p(ratio * curvature)
            slope = ratio * slope / (1 + ratio * curvature)
        fall = slope[:-1] - slope[1:]  # positive, or zero where the curvature is constant
        step = (np.diff(value) - slope[1:] * np.diff(t)) / np.where(fall > 0, fall, 1.0)
        step = np.clip(step, 0.0, np.diff(t))
        places += [t, t[:-1] + step]
        heights += [value, value[:-1] + slope[:-1] * step]
    return Lines(weight, mu * np.concatenate(places), np.concatenate(heights) + SLACK)


def _survival(family: Lines, losses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probability that the largest line exceeds each of the losses (increasing numbers)."""
    least = np.full_like(losses, np.inf)
    for q, height in zip(family.q, family.height, strict=True):
        if q > 0:
            np.minimum(least, (losses - height) / q - q / 2, out=least)
        else:
            least[losses < height] = -np.inf
    return ndtr(-least)

"""One adaptive selection after another, in NumPy: the oracle and the fallback of ``compose``.

A privacy profile V is a convex decreasing function of x = exp(epsilon) with the reflection
V(x) = 1 - x + x V(1/x). It is stored on the nodes s_i = i * step, i >= 0, of s = log x; between
nodes it is replaced by its chord in x, which lies above it. One selection of bounded range
epsilon0 = cells * step turns V into

    x -> max over a in [x exp(-epsilon0), x] of the chord of V over [a, a exp(epsilon0)] at x.

For a on a node this is a weighted mean of two stored values. For a in a cell (a1, a2) between
two nodes, with V replaced by its chords, the value is A a + C + B / a, and

    A a + C + B / a = (1 - z) left + z right + z (1 - z) K / a,   a = a1 + z (a2 - a1),

with left and right the values at the two nodes. Replacing a by a1 in the last term gives a
parabola in z, above the truth, whose maximum is max(left, right) + (bend - |right - left|)^2 /
(4 bend) if bend = K / a1 exceeds |right - left|. All terms are sums of positive numbers, so
rounding is relative and small; ``ALLOWANCE`` exceeds it at every step.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ALLOWANCE = 1e-14
"""Relative amount added at every step: above the rounding errors of the dozen operations in it."""


class SelectionWeights(NamedTuple):
    """What the loops need to know about one selection of range ``cells * step``."""

    low: NDArray[np.float64]  # weight of V(a) for a = x exp((r - cells) step), r = 0..cells
    high: NDArray[np.float64]  # weight of V(a exp(epsilon0)): one minus the other
    bulge: NDArray[np.float64]  # turns differences of V into the bend of cell r, r < cells
    gap: NDArray[np.float64]  # 1 - x at the nodes left of zero
    shrink: NDArray[np.float64]  # x at the nodes left of zero
    growth: float  # exp(step) - 1


def selection_weights(cells: int, step: float) -> SelectionWeights:
    """Weights of one selection of bounded range ``cells * step``."""
    r = np.arange(cells + 1)
    scale = -np.expm1(-cells * step)
    growth = float(np.expm1(step))
    return SelectionWeights(
        low=-np.expm1(-r * step) / scale,
        high=np.exp(-r * step) * -np.expm1((r - cells) * step) / scale,
        bulge=growth * np.exp(-(r[:-1] + 1) * step) / scale,
        gap=-np.expm1((r[:-1] - cells) * step),
        shrink=np.exp((r[:-1] - cells) * step),
        growth=growth,
    )


def compose_selections(
    values: NDArray[np.floating], count: int, cells: int, step: float
) -> NDArray[np.floating]:
    """Upper bound of a profile after ``count`` more adaptive selections.

    Parameters
    ----------
    values : array of shape (n,)
        An upper bound of the profile on the nodes ``i * step``; right of the last node its last
        value is used, left of zero its reflection.
    count : int
        How many selections are put in front.
    cells : int
        Each selection is (cells * step)-bounded-range.
    step : float
        Distance of two nodes.

    Returns
    -------
    array of shape (n,)
        The new upper bound on the same nodes.
    """
    weights = selection_weights(cells, step)
    n = values.shape[0]
    mirror = np.minimum(cells - np.arange(cells), n - 1)
    out = np.array(values, dtype=np.float64)
    for _ in range(count):
        v = np.concatenate(
            [weights.gap + weights.shrink * out[mirror], out, np.full(cells, out[-1])]
        )
        g = weights.growth * v
        g[:-1] += v[:-1] - v[1:]
        left = weights.high[0] * v[cells : cells + n]
        best = left
        for r in range(cells):
            right = (
                weights.low[r + 1] * v[r + 1 : r + 1 + n]
                + weights.high[r + 1] * v[r + 1 + cells : r + 1 + cells + n]
            )
            bend = weights.bulge[r] * (g[r : r + n] - g[r + cells : r + cells + n])
            slack = np.maximum(bend - np.abs(right - left), 0.0)
            inside = np.divide(slack * slack, 4.0 * bend, out=np.zeros(n), where=slack > 0.0)
            best = np.maximum(best, np.maximum(left, right) + inside)
            left = right
        out = best * (1.0 + ALLOWANCE)
    return out

"""Worst-case privacy losses of pure releases and of selections, as atoms.

A profile that is convex and piecewise linear in x = exp(epsilon) is the sum over atoms of
mass * (1 - exp(epsilon - loss))+, plus the mass at infinity. Both kinds of events are bounded by
such profiles, which makes mixing them a convolution. ``accounting.md`` has the proofs.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, log_expit

from sparsedp._kernels import COMPILED
from sparsedp.privacy.account.cost import Atoms, Groups

if COMPILED:
    from sparsedp._kernels.account import compose as kernel
else:
    from sparsedp._kernels.account import compose_reference as kernel

CHEAP_COST = 20_000_000
"""Operations of the kernel that are always granted, up to ``MOST_CELLS`` cells per epsilon0."""

FULL_COST = 80_000_000
"""Operations that are granted for up to ``FULL_CELLS`` cells per epsilon0."""

LEAST_CELLS, FULL_CELLS, MOST_CELLS = 12, 64, 2048
"""Cells per epsilon0: granted whatever it costs, good for any purpose, more than enough."""

MOST_PAIRS = 4_000_000
"""Pairs of atoms of two kinds of pure releases: beyond, both move to a coarser lattice first."""


def convolve(first: Atoms, second: Atoms) -> Atoms:
    """Sum of two independent losses (a mass at infinity is not multiplied: an upper bound)."""
    return Atoms(
        np.add.outer(first.losses, second.losses).ravel(),
        np.multiply.outer(first.masses, second.masses).ravel(),
        first.infinite + second.infinite,
    )


def coarsen(atoms: Atoms, limit: int) -> Atoms:
    """Move atoms to at most ``limit`` nodes, each split between the two nodes around it.

    The split keeps the mean of exp(-loss): the law of exp(-loss) is only spread out, and that
    never lowers the mean of a convex function (connecting the dots, Doroshenko et al. 2022).
    """
    if atoms.losses.size <= limit:
        return atoms
    low, high = float(atoms.losses.min()), float(atoms.losses.max())
    step = (high - low) / (limit - 1)
    node = np.clip(np.floor((atoms.losses - low) / step).astype(int), 0, limit - 2)
    to_next = low + (node + 1) * step - atoms.losses
    # expm1(to_next) / expm1(step), written so that nothing overflows where steps are long.
    share = np.exp(to_next - step) * np.expm1(-to_next) / math.expm1(-step)
    share = np.clip(share, 0.0, 1.0)
    masses = np.zeros(limit)
    np.add.at(masses, node, share * atoms.masses)
    np.add.at(masses, node + 1, (1 - share) * atoms.masses)
    return Atoms(low + step * np.arange(limit), masses, atoms.infinite)


def pure_atoms(groups: Groups, limit: int) -> Atoms:
    """Worst case of pure releases: independent randomized responses (Kairouz et al. 2015)."""
    atoms = Atoms(np.zeros(1), np.ones(1))
    for epsilon, count in groups:
        k = np.arange(count + 1)
        log_mass = gammaln(count + 1) - gammaln(k + 1) - gammaln(count - k + 1)
        log_mass += k * log_expit(epsilon) + (count - k) * log_expit(-epsilon)
        log_mass += 1e-15 * (gammaln(count + 1) + count * (epsilon + 1))  # rounding, upward
        group = coarsen(Atoms((2 * k - count) * epsilon, np.exp(log_mass)), limit)
        if atoms.losses.size * group.losses.size > MOST_PAIRS:
            atoms, group = (coarsen(part, math.isqrt(MOST_PAIRS)) for part in (atoms, group))
        atoms = coarsen(convolve(atoms, group), limit)
    return atoms


def selection_profile(epsilon: NDArray[np.floating], epsilon0: float) -> NDArray[np.floating]:
    """Exact delta(epsilon) of a single selection, for any real epsilon."""
    inside = np.clip(epsilon, -epsilon0, epsilon0)
    delta = np.expm1((inside - epsilon0) / 2) ** 2 / -math.expm1(-epsilon0)
    return np.where(epsilon < -epsilon0, -np.expm1(np.minimum(epsilon, 0.0)), delta)


def lattice(groups: Groups) -> tuple[list[int], float]:
    """Cells per epsilon0 for each group of selections, and the step of the lattice.

    Every epsilon0 is rounded up to cells * step. The choice only decides how sharp and how
    expensive the bound is; it does not depend on the scale of the epsilons up to about 1.
    """
    epsilon0 = np.array([group[0] for group in groups])
    count = np.array([group[1] for group in groups])
    variance = count * epsilon0**2
    main = int(np.argmax(variance >= (1 - 1e-9) * variance.max()))  # ties: the first one
    most = max(MOST_CELLS, int(epsilon0[main] / 0.02))
    candidates = np.unique(
        np.concatenate([np.arange(LEAST_CELLS, 257), np.geomspace(257, most, 60).astype(int)])
    )
    ratio = np.outer(candidates, epsilon0 / epsilon0[main])
    cells = np.maximum(np.ceil(ratio - 1e-9), 1.0)
    nodes = np.minimum(cells @ count, 6 * np.sqrt(cells**2 @ count))
    cost = nodes * (cells @ count - cells[:, -1])
    # Variance added by rounding up and by chords, relative to the variance that is there.
    added = ((cells**2 - ratio**2 + 0.5) @ count) / (ratio**2 @ count)
    enough = FULL_CELLS * max(1.0, float(epsilon0[main]) / 3)
    allowed = (cost <= CHEAP_COST) | ((candidates <= enough) & (cost <= FULL_COST))
    allowed[0] = True
    chosen = cells[np.argmin(np.where(allowed, added, np.inf))].astype(int)
    return chosen.tolist(), float(np.max(epsilon0 / chosen)) * (1 + 1e-15)


def composed_selections(groups: Groups, tail: float) -> tuple[NDArray[np.floating], float]:
    """Upper bound on the profile of selections in the given order: values on nodes, their step.

    Parameters
    ----------
    groups : tuple of (epsilon0, count)
    tail : float
        The lattice ends where about this mass is left.
    """
    cells, step = lattice(groups)
    counts = [count for _, count in groups]
    variance = sum(n * (m * step) ** 2 for n, m in zip(counts, cells, strict=True)) / 4
    reach = variance / 2 + math.sqrt(-2 * math.log(tail) * variance)
    full = sum(n * m for n, m in zip(counts, cells, strict=True))
    nodes = np.arange(min(full, math.ceil(reach / step)) + 1)

    # The last selection in closed form, then backwards in time.
    values = selection_profile(nodes * step, cells[-1] * step)
    values[cells[-1] :] = 0.0  # exactly: from here on the profile vanishes
    counts[-1] -= 1
    for n, m in zip(reversed(counts), reversed(cells), strict=True):
        if n:
            values = kernel.compose_selections(values, n, m, step)
    return values, step


@lru_cache(maxsize=64)
def selection_atoms(groups: Groups, tail: float) -> Atoms:
    """The same bound as atoms; the mass that the lattice leaves counts as infinite loss."""
    values, step = composed_selections(groups, tail)
    nodes = np.arange(values.size)
    # Kinks left of zero mirror those right of it; right of the last node the bound is constant.
    growth = math.expm1(step)
    before = -math.expm1(-step) + math.exp(-step) * values[1]
    change = np.diff(values, prepend=before, append=values[-1])
    right, left = change[1:], math.exp(step) * change[:-1]
    kinks = (right - left) / growth
    kinks += 1e-15 * (np.abs(right) + np.abs(left)) / growth  # rounding, upward
    kinks[0] += 1e-15 * before / growth
    kinks = np.maximum(kinks, 0.0)
    mirrored = kinks[:0:-1] * np.exp(-step * nodes[:0:-1])
    losses = step * np.concatenate([-nodes[:0:-1], nodes])
    return Atoms(losses, np.concatenate([mirrored, kinks]), float(values[-1]))

"""Which of the features to keep, from releases alone: those that noise does not explain.

Backward elimination by what the noisy Gram matrix says: a feature costs the mean square by which
margins change at least when it is left out and all others make up for it as well as they can.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

EVIDENCE = 1.0
"""A feature stays if it changes margins by more than this times what noise alone does."""

COMPACT = 0.75
"""Columns that were left out are carried along until no more than this part is left."""

LEAST_LIKELY = 0.05
"""After the first steps a feature goes on if it is at least so likely to matter."""

N_ROUNDS, LARGEST = 100, 1e12
"""Of finding out how many features matter: rounds, and the largest cost over noise."""

VARIANCES = (1.0, *(3.0**k for k in range(1, 22)))
"""Of costs over noise: of features that do nothing, and of others."""

STANDING_OUT, MOSTLY_SEEN = 10.0, 0.5
"""Most features that matter are to have a larger variance than this, and those that do not go on
are to have this part of the costs that noise makes."""

DO_NOTHING = 10.0
"""So many features, beside those that there are, are taken to do nothing."""

FEWEST_KEPT = 16
"""So many stay without evidence: where noise is loud, many weak features rank records better than
the few that stand out."""


@dataclass(frozen=True)
class Elimination:
    """Features in the order in which they are worth keeping.

    Parameters
    ----------
    order : ndarray of shape (d,)
        Positions among the features; the first one is left out last.
    costs : ndarray of shape (d,)
        What it costs to leave out each of them, once all after it have been left out.
    sizes : ndarray of shape (d,)
        Columns of each.
    """

    order: np.ndarray
    costs: np.ndarray
    sizes: np.ndarray

    @classmethod
    def of(cls, metric: np.ndarray, weights: np.ndarray, sizes: np.ndarray) -> "Elimination":
        """Leave out one after another, the cheapest first.

        Parameters
        ----------
        metric : ndarray of shape (columns, columns)
            Mean products of the columns, without what a constant explains; positive definite.
        weights : ndarray of shape (columns, n_outputs)
        sizes : ndarray of shape (d,)
            Columns of each feature, one after another.
        """
        inverse, left = np.linalg.inv(metric), weights.copy()
        change, n_left = np.empty_like(inverse), len(inverse)
        starts = np.cumsum(sizes) - sizes
        # Those with the same number of columns are looked at together.
        waiting = [np.flatnonzero(sizes == size) for size in np.unique(sizes)]
        order, costs = [], []
        for _ in range(len(sizes)):
            drops = [_costs(inverse, left, starts[some], sizes[some[0]]) for some in waiting]
            which = int(np.argmin([drop.min() for drop in drops]))
            cheapest = int(np.argmin(drops[which]))
            feature = int(waiting[which][cheapest])
            order.append(feature)
            costs.append(drops[which][cheapest])
            waiting[which] = waiting[which][waiting[which] != feature]
            waiting = [some for some in waiting if len(some)]
            gone = slice(starts[feature], starts[feature] + sizes[feature])
            rows = inverse[gone]
            if sizes[feature] == 1:
                factor = rows.T / rows[0, starts[feature]]
                # The same products as by matmul, which is slow where there is nothing to add up.
                np.multiply(factor, rows, out=change)
            else:
                factor = np.linalg.solve(inverse[gone, gone], rows).T
                np.matmul(factor, rows, out=change)
            left -= factor @ left[gone]
            inverse -= change
            n_left -= sizes[feature]
            if 0 < n_left <= COMPACT * len(inverse):
                rest = np.sort(np.concatenate(waiting))
                ends = np.cumsum(sizes[rest])
                moved = np.repeat(starts[rest] - (ends - sizes[rest]), sizes[rest])
                columns = moved + np.arange(n_left)
                inverse, left = inverse[np.ix_(columns, columns)], left[columns]
                change, starts[rest] = np.empty_like(inverse), ends - sizes[rest]
        positions = np.array(order[::-1], dtype=np.intp)
        return cls(positions, np.array(costs[::-1]), sizes[positions])

    @classmethod
    def alike(cls, each: float, weights: np.ndarray, sizes: np.ndarray) -> "Elimination":
        """The same where the metric is a multiple of the identity: no feature makes up for others.

        Parameters
        ----------
        each : float
            The multiple.
        weights, sizes
            As for `of`.
        """
        squares = each * np.square(weights).sum(axis=1)
        costs = np.add.reduceat(squares, np.cumsum(sizes) - sizes)
        order = np.argsort(-costs, kind="stable")
        return cls(order, costs[order], sizes[order])

    def kept(self, noise: float, n_outputs: int, most: int, fewest: int = FEWEST_KEPT) -> int:
        """How many features to keep, between the fewest and the most.

        Parameters
        ----------
        noise : float
            Mean square of what noise does along one column.
        n_outputs : int
        most, fewest : int
            So many stay without evidence.
        """
        worth = self.costs > EVIDENCE * self.sizes * n_outputs * noise
        found = int(np.flatnonzero(worth)[-1]) + 1 if worth.any() else 0
        return min(max(found, fewest), most, len(worth))

    def going_on(self, noise: float, n_outputs: int) -> int:
        """How many features to go on with: all but those that are likely to do nothing.

        Costs of features that do nothing are what noise makes them, a sum of squares of normal
        numbers; those of others are the same with a larger variance, one of many: a few strong
        features must not hide that the others matter too. How many there are of every kind is as
        likely as can be, beforehand some do nothing (Stephens 2017). All go on where these are not
        apart: where most that matter matter a little, or features that do nothing are not
        recognized as such, so that only the smallest costs of noise would be left out.

        Parameters
        ----------
        noise : float
            Mean square of what noise and chance do along one column.
        n_outputs : int
        """
        noise = max(noise, 1e-300)
        squares = np.minimum(self.costs, LARGEST * noise) / noise
        degrees = self.sizes * n_outputs
        variances = np.array(VARIANCES)
        laws = squares[:, None] * (1 - 1 / variances) / 2
        laws -= degrees[:, None] * np.log(variances) / 2
        laws = np.exp(laws - laws.max(axis=1, keepdims=True))
        parts = np.full(len(variances), 1 / len(variances))
        for _ in range(N_ROUNDS):
            kinds = laws * parts
            kinds /= kinds.sum(axis=1, keepdims=True)
            before, parts = parts, kinds.sum(axis=0)
            parts[0] += DO_NOTHING
            parts /= parts.sum()
            if np.abs(parts - before).max() <= 1e-4:
                break
        worth = np.flatnonzero(1 - kinds[:, 0] > LEAST_LIKELY)
        found = int(worth[-1]) + 1 if len(worth) else 0
        rest = squares[found:].sum() / max(degrees[found:].sum(), 1)
        stand_out = parts[variances > STANDING_OUT].sum() > 0.5 * parts[1:].sum()
        if rest < MOSTLY_SEEN or not stand_out:
            return len(squares)
        return min(max(found, FEWEST_KEPT), len(squares))


def _costs(inverse: np.ndarray, weights: np.ndarray, starts: np.ndarray, size: int) -> np.ndarray:
    """What it costs to leave out features that have so many columns, from these starts on."""
    if size == 1:
        return np.square(weights[starts]).sum(axis=1) / inverse[starts, starts]
    columns = starts[:, None] + np.arange(size)
    some = weights[columns]
    blocks = inverse[columns[:, :, None], columns[:, None, :]]
    return np.sum(some * np.linalg.solve(blocks, some), axis=(1, 2))


def nearest(
    metric: np.ndarray, weights: np.ndarray, places: np.ndarray, last: np.ndarray
) -> np.ndarray:
    """The models with fewer columns that come closest to ``weights``, from releases alone.

    Of every model: the weights whose margins differ least from those of the full model, root mean
    square, as the noisy Gram matrix measures it.

    Parameters
    ----------
    metric : ndarray of shape (columns, columns)
        Mean products of the columns; positive definite.
    weights : ndarray of shape (columns, n_outputs)
    places : ndarray
        Columns in the order in which they enter; others are in none of the models.
    last : ndarray of shape (k,)
        Where in these the columns of every model end.

    Returns
    -------
    ndarray of shape (k, columns, n_outputs)
        Zero for columns that are not in a model.
    """
    # What is in none of the models comes last: what it did they are to make up for.
    others = np.setdiff1d(np.arange(len(weights)), places)
    places = np.concatenate([places, others])
    # With the metric R R', the nearest weights are a sum of one term for each column taken in:
    # leading blocks of a triangular inverse are the inverses of leading blocks.
    root = np.linalg.cholesky(metric[np.ix_(places, places)])
    inverse = np.asarray(solve_triangular(root, np.eye(len(root)), lower=True))
    terms = inverse[:, :, None] * (root.T @ weights[places])[:, None, :]
    found = np.zeros((len(last), *weights.shape))
    found[:, places] = np.cumsum(terms, axis=0)[last]
    return found

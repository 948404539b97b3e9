"""Fits without noise: exact Newton steps, by which a fit without privacy is a ceiling.

Noise limits how far features of a private fit bend, and short steps how far weights go. Without it
records do: as many waves are taken, and weights are pulled to zero as weakly, as lowers the loss of
records that a fit has not seen.
"""

import math
from dataclasses import dataclass

import numpy as np

from sparsedp.data.columns.subset import ColumnSubset
from sparsedp.data.records import Derived
from sparsedp.data.sums.weighed import weighed
from sparsedp.losses import Loss
from sparsedp.solvers.pursuit.records import Targets, residual_table

RIDGE = 1e-6
"""Per record: keeps the Hessian away from singular and weights of separable data finite."""

PULLS = (1e-2, 1e-3, 1e-4, RIDGE)
"""Ridges that are tried where features may bend."""

WAVES = (0, 2, 5)
"""Waves that are tried, and all of them."""

MOST_STEPS = 30

LONGEST_STEP = 5.0
"""Root mean square change of the margins in one step."""

CONVERGED, CLOSE = 1e-9, 1e-2
"""A shorter step, in the same measure, is the last one; and while fits are compared."""

MOST_HALVINGS = 30
"""Of a step that does not lower the loss; beyond that rounding decides, and steps end."""


@dataclass(frozen=True, eq=False)
class NewtonSums:
    """Value, gradient and Hessian of the loss in the weights of some columns. Never released."""

    loss: Loss
    weights: np.ndarray
    kept: np.ndarray

    def __call__(self, columns: ColumnSubset, targets: Targets) -> tuple[np.ndarray, ...]:
        """Sums over the block's records."""
        n_outputs, loss, counted = self.weights.shape[1], self.loss, columns.weights
        margins, table = columns.margins(self.weights), _table(columns, self.kept)
        size = table.shape[1]
        single = margins[:, 0] if n_outputs == 1 else margins
        value = weighed(loss.value(single, targets.values), counted).sum()
        residuals = weighed(residual_table(loss, margins, targets.values), counted)
        curvature = weighed(loss.curvature(single, targets.values), counted)
        curvature = curvature.reshape(-1, n_outputs, n_outputs)
        hessian = np.zeros((n_outputs, size, n_outputs, size))
        for c in range(n_outputs):
            for e in range(c + 1):
                hessian[c, :, e] = table.T @ (curvature[:, c, e, None] * table)
                hessian[e, :, c] = hessian[c, :, e]
        return np.array(value), table.T @ residuals, hessian.reshape(n_outputs * size, -1)


@dataclass(frozen=True, eq=False)
class Value:
    """Value of the loss. Never released."""

    loss: Loss
    weights: np.ndarray

    def __call__(self, columns: ColumnSubset, targets: Targets) -> np.ndarray:
        """Sum over the block's records."""
        margins = columns.margins(self.weights)
        single = margins[:, 0] if margins.shape[1] == 1 else margins
        return np.array(weighed(self.loss.value(single, targets.values), columns.weights).sum())


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Value of the loss where no record takes part in its own fit, nearly. Never released.

    A Newton step without the record leads from the fit to all records to one to all others. Its
    margins m become m + A (1 - C A)^-1 r, with r its residuals, C its curvature and A what a unit
    of its residuals moves its own margins by (Rad and Maleki 2020).

    Parameters
    ----------
    loss : Loss
    weights : ndarray of shape (columns, n_outputs)
        Of the fit to all records.
    kept : ndarray of shape (columns,)
        Mask of the columns that took part in it.
    inverse : ndarray of shape (n_outputs, kept, n_outputs, kept)
        Of the Hessian there.
    """

    loss: Loss
    weights: np.ndarray
    kept: np.ndarray
    inverse: np.ndarray

    def __call__(self, columns: ColumnSubset, targets: Targets) -> np.ndarray:
        """Sum over the block's records."""
        n_outputs, loss = self.weights.shape[1], self.loss
        margins, table = columns.margins(self.weights), _table(columns, self.kept)
        single = margins[:, 0] if n_outputs == 1 else margins
        own = np.empty((len(table), n_outputs, n_outputs))
        for c in range(n_outputs):
            for e in range(c + 1):
                own[:, c, e] = own[:, e, c] = np.sum(
                    (table @ self.inverse[c, :, e]) * table, axis=1
                )
        if columns.weights is not None:
            own *= columns.weights[:, None, None]
        curvature = loss.curvature(single, targets.values).reshape(own.shape)
        residuals = residual_table(loss, margins, targets.values)
        moved = np.linalg.solve(np.eye(n_outputs) - curvature @ own, residuals[:, :, None])
        margins = margins + (own @ moved)[:, :, 0]
        single = margins[:, 0] if n_outputs == 1 else margins
        return np.array(weighed(loss.value(single, targets.values), columns.weights).sum())


def _table(columns: ColumnSubset, kept: np.ndarray) -> np.ndarray:
    """Some columns of a block, written down."""
    table = columns.margins(np.eye(len(kept))[:, kept])
    return table if columns.offset is None else table - columns.offset[:, None]


@dataclass(frozen=True, eq=False)
class Penalty:
    """Which columns take part in a fit, and how their weights are pulled to zero.

    Parameters
    ----------
    kept : ndarray of shape (columns,)
        Mask of the columns; the weights of others stay as they are.
    ridge : ndarray of shape (columns,)
        Times half of a squared weight, this is added to the loss.
    """

    kept: np.ndarray
    ridge: np.ndarray

    @classmethod
    def of(cls, kept: np.ndarray, first: int, n_records: float, pull: float = RIDGE) -> "Penalty":
        """The same for all columns but the first ones, which are constant."""
        ridge = np.full(len(kept), pull * max(n_records, 1.0))
        ridge[:first] = RIDGE * max(n_records, 1.0)
        return cls(kept, ridge)

    def among(self, kept: np.ndarray) -> "Penalty":
        """The same for fewer columns."""
        return Penalty(self.kept & kept, self.ridge)

    def followed(self, count: int) -> "Penalty":
        """The same, and so many columns that take no part yet."""
        return Penalty(
            np.concatenate([self.kept, np.zeros(count, dtype=bool)]),
            np.concatenate([self.ridge, np.ones(count)]),
        )


@dataclass(frozen=True, eq=False)
class ExactFit:
    """A loss on the chosen columns of all records. Private.

    Parameters
    ----------
    columns, targets : Derived
    loss : Loss
    n_records : float
    """

    columns: Derived
    targets: Derived
    loss: Loss
    n_records: float

    def newton(
        self, weights: np.ndarray, penalty: Penalty, n_steps: int, converged: float = CONVERGED
    ) -> np.ndarray:
        """Take Newton steps, halved until they descend."""
        kept, ridge = penalty.kept, penalty.ridge[:, None]
        for _ in range(n_steps if kept.any() else 0):
            value, gradient, hessian = self._sums(weights, penalty)
            value += float(np.sum(ridge * np.square(weights))) / 2
            flat = (gradient + (ridge * weights)[kept]).T.ravel()
            step = np.linalg.solve(hessian, flat)
            # The Hessian is about the curvature times the Gram matrix: a length in margins.
            change = math.sqrt(max(float(step @ hessian @ step), 0.0) / max(self.n_records, 1.0))
            step *= min(1.0, LONGEST_STEP / max(change, 1e-300))
            moved = weights.copy()
            # Where classes are rare a full step may overshoot, and the next one back again.
            for _ in range(MOST_HALVINGS):
                moved[kept] = weights[kept] - step.reshape(weights.shape[1], -1).T
                reached = float(self.columns.total(Value(self.loss, moved), self.targets))
                if reached + float(np.sum(ridge * np.square(moved))) / 2 <= value:
                    break
                step /= 2
            else:
                break
            weights = moved
            if change < converged:
                break
        return weights

    def _sums(self, weights: np.ndarray, penalty: Penalty) -> tuple[float, np.ndarray, np.ndarray]:
        """Value and gradient of the loss, and the Hessian with the ridge."""
        sums = NewtonSums(self.loss, weights, penalty.kept)
        value, gradient, hessian = self.columns.total(sums, self.targets)
        ridge = np.tile(penalty.ridge[penalty.kept], weights.shape[1])
        return float(value), gradient, hessian + np.diag(ridge)

    def left_out(self, weights: np.ndarray, penalty: Penalty) -> float:
        """Loss of records that are left out one at a time; infinite where it is no number."""
        _, gradient, hessian = self._sums(weights, penalty)
        size, n_outputs = gradient.shape
        try:
            inverse = np.linalg.inv(hessian).reshape(n_outputs, size, n_outputs, size)
            apart = LeftOut(self.loss, weights, penalty.kept, inverse)
            value = float(self.columns.total(apart, self.targets))
        except np.linalg.LinAlgError:  # a record that alone tells a weight
            return math.inf
        return value if math.isfinite(value) else math.inf

    def best(self, start: np.ndarray, waves: np.ndarray, first: int) -> tuple[np.ndarray, Penalty]:
        """Fit with as many waves and as weak a pull as records tell that were not seen.

        Parameters
        ----------
        start : ndarray of shape (columns, n_outputs)
            Zero but for the constant.
        waves : ndarray of shape (columns,)
            The number of every column's wave; 0 for a constant and for what is straight.
        first : int
            Number of constant columns.

        Returns
        -------
        weights : ndarray
            Zero for the waves that are left out.
        penalty : Penalty
        """
        most, n = int(waves.max(initial=0)), self.n_records
        if most == 0:
            plain = Penalty.of(waves == 0, first, n)
            return self.newton(start, plain, MOST_STEPS), plain
        found: list[tuple[float, np.ndarray, Penalty]] = []
        for count in sorted({min(count, most) for count in (*WAVES, most)}):
            fits: list[tuple[float, np.ndarray, Penalty]] = []
            for pull in PULLS:
                penalty = Penalty.of(waves <= count, first, n, pull)
                start = self.newton(start, penalty, MOST_STEPS, CLOSE)
                fits.append((self.left_out(start, penalty), start, penalty))
                if len(fits) > 1 and not fits[-1][0] < fits[-2][0]:
                    break
            found.append(min(fits, key=lambda fit: fit[0]))
            start = found[-1][1]
            if len(found) > 1 and not found[-1][0] < found[-2][0]:
                break
        _, weights, penalty = min(found, key=lambda fit: fit[0])
        return self.newton(weights, penalty, MOST_STEPS), penalty

    def wider(
        self, start: np.ndarray, before: Penalty, more: int, first: int
    ) -> tuple[np.ndarray, Penalty]:
        """Fit with more columns, if that tells more of records that were not seen.

        Parameters
        ----------
        start : ndarray of shape (columns, n_outputs)
            The fit before; zero for those that are new.
        before : Penalty
        more : int
            Columns that are new, the last ones.
        first : int
            Number of constant columns.

        Returns
        -------
        weights : ndarray
            As they were, or of the wider fit.
        penalty : Penalty
        """
        found = [(self.left_out(start, before), start, before)]
        kept = before.kept.copy()
        kept[len(kept) - more :] = True
        weights = start
        for pull in PULLS:
            penalty = Penalty.of(kept, first, self.n_records, pull)
            weights = self.newton(weights, penalty, MOST_STEPS, CLOSE)
            found.append((self.left_out(weights, penalty), weights, penalty))
            if len(found) > 2 and not found[-1][0] < found[-2][0]:
                break
        _, weights, penalty = min(found, key=lambda fit: fit[0])
        return self.newton(weights, penalty, MOST_STEPS), penalty

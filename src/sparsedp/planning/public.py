"""The solver itself on a public sample, repeated to as many records as are planned.

Repeated records have the signal of as many different ones, against the same noise; the part that is
tested has none of them. What a sample cannot show is how much better more different records are:
its figures are low rather than high.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

from sparsedp.data.bounds import Bounds
from sparsedp.data.gate import encode_labels, target_numbers
from sparsedp.data.raw import Cells, RawTable
from sparsedp.data.schema import Schema
from sparsedp.planning.band import Band
from sparsedp.planning.facts import Facts, Kind, NotMeasured, kind_of
from sparsedp.planning.law import LEVELS

if TYPE_CHECKING:  # a plan by the law does not wait for scikit-learn
    from sparsedp.estimators import SparseLinearRegression, SparseLogisticRegression

N_FOLDS, N_SEEDS = 4, 3
MOST_RECORDS = 100_000
"""Beyond these a sample is not repeated: quality with more records is higher."""

FEWEST_PERSONS = 40
"""Of a sample, of which a quarter is tested at a time."""

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)


@dataclass(frozen=True, repr=False)
class PublicSample:
    """Records that are nobody's secret, as bounded columns.

    Parameters
    ----------
    X : ndarray of shape (m, n_features)
    y : ndarray of shape (m,)
        Codes of classes, or numbers.
    bounds : Bounds
        Of the features, as the fit will declare them.
    kind : {"binary", "regression", "multiclass"}
    target_bounds : (float, float) or None
        Of numbers.
    n_classes : int
    persons : ndarray of shape (m,) or None
        Whose a row is, as a number.
    """

    X: np.ndarray
    y: np.ndarray
    bounds: Bounds
    kind: Kind
    target_bounds: tuple[float, float] | None = None
    n_classes: int = 2
    persons: np.ndarray | None = None

    @classmethod
    def from_table(cls, table: RawTable, schema: Schema) -> "PublicSample":
        """A raw table with its target, as a schema declares both.

        Parameters
        ----------
        table : data frame, Arrow table or dict of columns
        schema : Schema
            With a target.
        """
        target = schema.target
        if target is None:
            raise ValueError("the schema must say which column is to be predicted: [target]")
        if schema.weight is not None or schema.offset is not None:
            raise NotMeasured("a public sample is fitted without weights and offsets")
        cells, classes, limits = schema.target_cells(table), target.classes, target.bounds
        if classes is not None:
            y = encode_labels(cells, classes, "raise")
        elif limits is not None:
            y = target_numbers(cells, limits, "raise")
        else:
            raise NotMeasured("a public sample has classes, or a number with limits, as target")
        whose = schema.groups(table)
        return cls(
            X=np.asarray(schema.encode(table), dtype=np.float64),
            y=y,
            bounds=schema.bounds,
            kind=kind_of(classes),
            target_bounds=limits,
            n_classes=2 if classes is None else len(classes),
            persons=None if whose is None else _codes(whose),
        )

    @property
    def rate(self) -> float | None:
        """Of the second class, or the largest of several."""
        if self.kind == "regression":
            return None
        share = np.bincount(self.y.astype(np.int64), minlength=self.n_classes) / len(self.y)
        rate = share[1] if self.kind == "binary" else share.max()
        return float(np.clip(rate, 1e-3, 1 - 1e-3))

    @property
    def spread(self) -> float | None:
        """Of numbers."""
        if self.target_bounds is None:
            return None
        low, high = self.target_bounds
        return float(np.clip(2 * np.std(self.y) / (high - low), 1e-3, 1.0))

    def folds(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Rows of persons to fit to, and rows of the others; each person is tested once."""
        persons = self.persons
        ids = np.arange(len(self.y)) if persons is None else persons
        _, whose = np.unique(ids, return_inverse=True)
        n_persons = int(whose.max(initial=-1)) + 1
        if n_persons < FEWEST_PERSONS:
            raise ValueError(
                f"a public sample needs at least {FEWEST_PERSONS} records or persons to say "
                "anything: leave it out, and guess the ceiling"
            )
        fold = np.random.default_rng(0).permutation(n_persons) % N_FOLDS
        for number in range(N_FOLDS):
            tested = fold[whose] == number
            yield np.flatnonzero(~tested), np.flatnonzero(tested)

    def tiled(self, rows: np.ndarray, n_persons: int) -> tuple[np.ndarray, np.ndarray | None]:
        """Rows repeated until there are so many persons, and whose they are.

        Each copy of a person is another person.
        """
        persons = self.persons
        if persons is None:
            return np.resize(rows, n_persons), None
        _, whose = np.unique(persons[rows], return_inverse=True)
        several = int(whose.max()) + 1
        n_tiles = -(-n_persons // several)
        copies = np.repeat(np.arange(n_tiles), len(rows)) * several + np.tile(whose, n_tiles)
        kept = copies < n_persons
        return np.tile(rows, n_tiles)[kept], copies[kept]

    def model(
        self, facts: Facts, epsilon: float, seed: int | None
    ) -> "SparseLinearRegression | SparseLogisticRegression":
        """The defaults."""
        from sparsedp.estimators import SparseLinearRegression, SparseLogisticRegression

        if self.kind == "regression":
            found = SparseLinearRegression(target_bounds=self.target_bounds)
        else:
            found = SparseLogisticRegression(classes=list(range(self.n_classes)))
        return found.set_params(
            epsilon=epsilon,
            delta=facts.delta,
            bounds=self.bounds,
            neighbors=facts.neighbors,
            random_state=seed,
        )

    def score(
        self, model: "SparseLinearRegression | SparseLogisticRegression", rows: np.ndarray
    ) -> float:
        """AUC, R2 or accuracy on rows that were not fitted to."""
        X, y = self.X[rows], self.y[rows]
        if self.kind == "regression":
            spread = np.sum((y - y.mean()) ** 2)
            return float(1 - np.sum((y - model.predict(X)) ** 2) / spread) if spread else 0.0
        if self.kind == "multiclass":
            return float(np.mean(model.predict(X) == y))
        n_in, n_out = int((y == 1).sum()), int((y == 0).sum())
        if not n_in or not n_out:
            return 0.5
        from scipy.stats import rankdata  # slow to import

        ranks = rankdata(model.decision_function(X))
        return float((ranks[y == 1].sum() - n_in * (n_in + 1) / 2) / (n_in * n_out))


def _codes(cells: Cells) -> np.ndarray:
    """A number for each different cell."""
    known: dict[str, int] = {}
    return np.array([known.setdefault(str(cell), len(known)) for cell in cells], dtype=np.int64)


@dataclass(frozen=True)
class Trial:
    """What came of a public sample.

    Parameters
    ----------
    band : Band
        Quality at the planned budget.
    by_epsilon : tuple of (float, Band)
    ceiling : float
        Of the same model without noise, on the records that it was not fitted to.
    n_fits : int
    used : (int, int, int)
        Features of the models: fewest, median and most.
    """

    band: Band
    by_epsilon: tuple[tuple[float, Band], ...]
    ceiling: float
    n_fits: int
    used: tuple[int, int, int]


def tried(sample: PublicSample, facts: Facts) -> Trial:
    """Fit and test, for several seeds, parts and budgets."""
    if sample.kind != facts.kind or sample.X.shape[1] != facts.n_features:
        raise ValueError("the public sample must have the columns and the target of the fit")
    n = round(min(facts.n_records, MOST_RECORDS))
    by_epsilon, used = [], []
    for epsilon in sorted({*EPSILONS, facts.epsilon}):
        values = []
        for seed in range(N_SEEDS):
            for rows, tested in sample.folds():
                chosen, persons = sample.tiled(rows, n)
                model = sample.model(facts, epsilon, seed)
                model.fit(sample.X[chosen], sample.y[chosen], groups=persons)
                values.append(sample.score(model, tested))
                if epsilon == facts.epsilon:
                    used.append(len(model.shapes_))
        by_epsilon.append((epsilon, _spread(np.array(values))))
    without = [
        sample.score(
            sample.model(facts, float("inf"), None).fit(sample.X[rows], sample.y[rows]), tested
        )
        for rows, tested in sample.folds()
    ]
    low, middle, high = np.quantile(used, (0, 0.5, 1)).tolist()
    return Trial(
        band=dict(by_epsilon)[facts.epsilon],
        by_epsilon=tuple(by_epsilon),
        ceiling=float(np.mean(without)),
        n_fits=len(by_epsilon) * N_SEEDS * N_FOLDS,
        used=(int(low), round(middle), int(high)),
    )


def _spread(values: np.ndarray) -> Band:
    """Where another value lies: as normal ones do whose deviation is estimated."""
    reach = np.std(values, ddof=1) * np.sqrt(1 + 1 / len(values))
    found = np.mean(values) + reach * stdtrit(len(values) - 1, LEVELS)
    return Band(*np.minimum(found, 1.0).tolist())

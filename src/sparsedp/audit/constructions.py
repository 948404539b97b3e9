"""Constructions that once broke the guarantee, run through the public ``fit``.

Each is a pair of neighbors on which a fault outside of the proofs, in a kernel, a conversion or a
scale, let one record decide about the model. Nothing is replayed here and nothing is trusted: whole
fits are made, an event is counted on either side, and the counts bound epsilon from below.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from sparsedp.audit.entrance import Table, watching
from sparsedp.audit.lower_bound import Event
from sparsedp.audit.neighbors import Pair
from sparsedp.audit.verdict import CONFIDENCE, AuditResult, audit
from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.estimators.classifier import SparseLogisticRegression
from sparsedp.fit.settings import BoundsLike
from sparsedp.losses import Logistic, Loss
from sparsedp.privacy import Neighbors
from sparsedp.solvers import FrankWolfe, Pursuit, Solver

EFFORT = 4
"""Times as many runs as asked for: an event tells less than the likelihoods that replays give."""


@dataclass(frozen=True)
class Construction:
    """Two neighbors, an estimator, and what to look for in the fitted model.

    Parameters
    ----------
    name : str
        What went wrong here.
    tables : callable
        Makes the tables, without the record and with it.
    model : SparseLogisticRegression
        Its epsilon and delta are the claim.
    event : callable
        Whether a fitted model shows that the record is not there; fixed before any fit.
    """

    name: str
    tables: Callable[[], tuple[Table, Table]]
    model: SparseLogisticRegression
    event: Callable[[SparseLogisticRegression], bool]
    loss: Loss = field(default_factory=Logistic)
    neighbors: Neighbors = "add_remove"

    def run(self, runs: int, seed: int) -> AuditResult:
        """Fit many times on either side; settings that are refused beforehand reveal nothing."""
        runs *= EFFORT
        hits, refused = [0, 0], 0
        for side, table in enumerate(self.tables()):
            for i in range(runs):
                try:
                    fitted = self.model.set_params(random_state=2 * (seed + i) + side).fit(*table)
                except ValueError:
                    refused += 1
                    break
                hits[side] += bool(self.event(fitted))
        epsilon, delta = float(self.model.epsilon or 0), float(self.model.delta or 0)
        # The event or its opposite may be the likelier one on either side: four bounds.
        events = [
            Event((counts[a], counts[1 - a]), (runs, runs))
            for counts in (hits, [runs - hit for hit in hits])
            for a in (0, 1)
        ]
        error = (1 - CONFIDENCE) / 8
        return AuditResult(
            method=f"fit: {self.name}",
            loss=type(self.loss).__name__.lower(),
            calibration="sound",
            neighbors=self.neighbors,
            epsilon=epsilon,
            delta=delta,
            epsilon_lower_bound=max(0.0 if refused else e.epsilon(delta, error) for e in events),
            delta_lower_bound=max(0.0 if refused else e.delta(epsilon, error) for e in events),
            movement=0.0,
            fault="refused for one of the neighbors only" if refused == 1 else None,
            pair="refused" if refused else self.name,
            runs=runs,
            confidence=CONFIDENCE,
        )


@dataclass(frozen=True)
class Replayed:
    """Two neighbors as ``fit`` hands them to a solver, and then the attack by likelihoods.

    For faults that move a query: replays see these where an event would need many more fits.
    """

    name: str
    tables: Callable[[], tuple[Table, Table]]
    model: SparseLogisticRegression
    solver: Solver
    loss: Loss = field(default_factory=Logistic)
    neighbors: Neighbors = "add_remove"

    def run(self, runs: int, seed: int) -> AuditResult:
        """Attack what arrived; settings that are refused beforehand reveal nothing."""
        claim = float(self.model.epsilon or 0), float(self.model.delta or 0)
        name = f"fit: {self.name}"
        seen: list[Dataset] = []
        try:
            for table in self.tables():
                self.model.set_params(solver=watching(seen), random_state=0).fit(*table)
        except ValueError:
            fault = "refused for one of the neighbors only" if seen else None
            loss = type(self.loss).__name__.lower()
            bounds = 0.0, 0.0, 0.0
            return AuditResult(
                name, loss, "sound", self.neighbors, *claim, *bounds, fault, "refused", 0, 1.0
            )
        pair = Pair(self.name, seen[0], seen[1], self.neighbors)
        return audit(
            self.solver,
            self.loss,
            *claim,
            self.neighbors,
            runs=runs,
            seed=seed,
            pairs=[pair],
            name=name,
        )


def constructions() -> Iterator[Construction | Replayed]:
    """The constructions of an independent review, at settings where a fit takes milliseconds."""
    steps = FrankWolfe(radius=20.0, n_steps=2)
    unit = Bounds(-1.0, 1.0)
    yield Construction(
        "steep walk", _steep_walk, _model(1.0, unit, steps), lambda model: model.coef_[0, 3] != 0
    )
    yield Construction(
        "text among labels",
        _text_among_labels,
        _model(1.0, unit, FrankWolfe(radius=5.0, n_steps=8)),
        lambda model: model.intercept_[0] > -4,
    )
    yield Construction(
        "unsorted duplicates",
        _unsorted_duplicates,
        _model(0.1, unit, FrankWolfe(radius=5.0, n_steps=2)),
        lambda model: model.coef_[0, 0] > 0,
    )
    tiny = (-1e-160, 1e-160)  # to be refused by the fit, as users would see it
    yield Replayed("tiny bounds", _tiny_bounds, _model(10.0, tiny, "pursuit", 0.01), Pursuit())


def _model(
    epsilon: float, bounds: BoundsLike, solver: str | Solver, delta: float = 1e-6
) -> SparseLogisticRegression:
    return SparseLogisticRegression(
        epsilon=epsilon,
        delta=delta,
        bounds=bounds,
        classes=(0, 1),
        invalid="replace",
        solver=solver,
    )


def _steep_walk(m: int = 4000) -> tuple[Table, Table]:
    """After a step toward one of two equal columns, a weight that should win has the exponent of
    one that cannot: a clamp of exponents once let the walk forget it.
    """
    a, b, c = np.zeros((3, 3 * m - 40))
    a[:m], b[: 2 * m], c[2 * m :] = 1, 1, 1
    X, y = np.column_stack([a, a, b, c]), np.ones(3 * m - 40, dtype=int)
    y[m : 2 * m] = 0
    more = np.vstack([X, [1.0, 0.0, 0.0, 0.0]]), np.append(y, 1)
    return (sparse.csr_array(X), y), (sparse.csr_array(more[0]), more[1])


def _text_among_labels(n: int = 2000) -> tuple[Table, Table]:
    """A list of labels becomes an array of text if one of them is text."""
    X = np.zeros((n + 1, 2))
    labels: list[object] = [i % 2 for i in range(n)]
    return (X[:n], labels), (X, [*labels, "?"])


def _unsorted_duplicates(m: int = 2000) -> tuple[Table, Table]:
    """One unsorted row has all rows sorted, and their pieces added up in another order."""
    pieces = np.concatenate([[2.0**60, -(2.0**60), 1.0], np.zeros(20)])
    size = len(pieces)
    values, indices = np.tile(pieces, m), np.zeros(m * size, dtype=np.int64)
    starts = np.arange(m + 1) * size
    one = sparse.csr_array((values, indices, starts), shape=(m, 2))
    more = (
        np.append(values, [0.0, 0.0]),
        np.append(indices, [1, 0]),
        np.append(starts, starts[-1] + 2),
    )
    other = sparse.csr_array(more, shape=(m + 1, 2))
    return (one, np.ones(m, dtype=int)), (other, np.ones(m + 1, dtype=int))


def _tiny_bounds() -> tuple[Table, Table]:
    """Squares of what divides by tiny widths overflow, and clipping once let what is then not a
    number through.
    """
    one, other = (sparse.csr_array([[0.0], *more]) for more in ([], [[1e-160]]))
    return (one, [0]), (other, [0, 1])

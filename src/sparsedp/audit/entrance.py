"""Through the public ``fit``: what one hostile record does to what a solver sees of all others.

A proof of a solver begins with neighbors, tables that differ in one record. That is so only if the
entrance is local: every record must come out of it by itself. Here two tables go through ``fit``,
with and without a record that is made to upset conversions, and a solver that only looks compares
what arrived of all the other records, to the last bit.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy import sparse

from sparsedp.audit.verdict import AuditResult
from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.data.files.readers import read_table
from sparsedp.estimators.border import Features, Targets
from sparsedp.estimators.classifier import SparseLogisticRegression
from sparsedp.estimators.regressor import SparseLinearRegression
from sparsedp.losses import Logistic, Loss, Squared
from sparsedp.mechanisms import Curator
from sparsedp.privacy import Neighbors, Perturb, PublicFacts, Schedule
from sparsedp.solvers import Solution, Solver

CELLS: tuple[object, ...] = (
    "text",
    "1",
    b"1",
    None,
    float("nan"),
    float("inf"),
    -1e308,
    5e-324,
    2**60 + 1,
    True,
    0.5,
    Decimal("0.5"),
)
"""What a hostile record may hold where others hold numbers or labels."""

LABELS: tuple[Sequence[object], ...] = (
    (0, 1),
    (False, True),
    ("no", "yes"),
    (2**53, 2**53 + 1),
)
"""Label sets; the last one does not survive a way through floating point."""

CANCELING = (2.0**60, -(2.0**60), 1.0)
"""Entries of one cell: what they add up to depends on their order."""

Form = type[sparse.csr_array] | type[sparse.csc_array]
Record = tuple[Sequence[object], object]
Records = list[Record]
Table = tuple[Features, Targets]


def watching(seen: list[Dataset]) -> Solver:
    """A solver that keeps what it was given."""

    class Watching:
        """Releases nothing but noise."""

        needs = ()
        caveats = ()

        def schedule(self, public: PublicFacts) -> Schedule:
            return Schedule((Perturb(),))

        def solve(self, data: Dataset, loss: Loss, curator: Curator) -> Solution:
            seen.append(data)
            curator.perturb(np.zeros(1), 1.0)
            return Solution(weights=np.zeros(curator.public.weights_shape))

    return Watching()


def arrived(table: Table, classes: Sequence[object] | None) -> np.ndarray:
    """What a solver sees of a table that goes through ``fit``: a row of numbers per record."""
    seen: list[Dataset] = []
    solver, bounds = watching(seen), Bounds(-2.0, 2.0)
    if classes is None:
        model = SparseLinearRegression(bounds=bounds, target_bounds=(-2.0, 2.0), solver=solver)
    else:
        model = SparseLogisticRegression(bounds=bounds, classes=classes, solver=solver)
    model.set_params(epsilon=1.0, delta=1e-3, invalid="replace", random_state=0)
    model.fit(*table)
    data = seen[0]
    columns = [data.matvec(unit) for unit in np.eye(data.n_columns)]
    return np.column_stack([*columns, data.row_norms(), np.asarray(data.target, dtype=np.float64)])


@dataclass(frozen=True)
class Disturbance:
    """Two tables, with a hostile record and without it."""

    name: str
    one: Table
    other: Table
    place: int
    """Of the hostile record."""
    classes: Sequence[object] | None

    def disturbed(self) -> int:
        """How many of the other records reached the solver changed."""
        one = arrived(self.one, self.classes)
        other = np.delete(arrived(self.other, self.classes), self.place, axis=0)
        if one.shape != other.shape:
            return max(len(one), len(other))
        return int((one.view(np.uint64) != other.view(np.uint64)).any(axis=1).sum())


@dataclass(frozen=True)
class Entrance:
    """One way into ``fit``, attacked with every hostile record: a line of the audit's table.

    Parameters
    ----------
    name : str
        How records are handed over.
    pairs : callable
        Makes the neighbors.
    loss : Loss
    """

    name: str
    pairs: Callable[[], Iterator[Disturbance]]
    loss: Loss
    neighbors: Neighbors = "add_remove"

    def run(self, runs: int, seed: int) -> AuditResult:
        """Attack; nothing in it is random."""
        most, worst, fault = 0, "", None
        n_pairs = 0
        for pair in self.pairs():
            n_pairs += 1
            try:
                disturbed = pair.disturbed()
            except (TypeError, ValueError, OverflowError) as error:
                fault = fault or f"{pair.name}: one record stops the fit ({type(error).__name__})"
                continue
            if disturbed > most:
                most, worst = disturbed, pair.name
        if most:
            fault = f"{worst}: {most} other records reach the solver changed"
        return AuditResult(
            method=self.name,
            loss=type(self.loss).__name__.lower(),
            calibration="sound",
            neighbors=self.neighbors,
            epsilon=1.0,
            delta=1e-3,
            epsilon_lower_bound=0.0,
            delta_lower_bound=0.0,
            movement=1.0 + most,
            fault=fault,
            pair=worst or f"{n_pairs} pairs",
            runs=0,
            confidence=1.0,
        )


def entrances() -> Iterator[Entrance]:
    """Every way into ``fit`` that can be made here."""
    for name, make in _FORMS.items():
        yield Entrance(f"fit({name})", lambda make=make: _cells(make), Logistic())
        yield Entrance(f"fit({name})", lambda make=make: _targets(make), Squared())
    for name, form in (("CSR", sparse.csr_array), ("CSC", sparse.csc_array)):
        yield Entrance(f"fit({name})", lambda form=form: _duplicates(form), Logistic())
    if find_spec("pandas") is not None:
        yield Entrance("fit(CSV)", partial(_files, "csv"), Logistic())
        if find_spec("pyarrow") is not None:
            yield Entrance("fit(Parquet)", partial(_files, "parquet"), Logistic())


def _lists(records: Records) -> Table:
    return [x for x, _ in records], [y for _, y in records]


def _tuples(records: Records) -> Table:
    return tuple(tuple(x) for x, _ in records), tuple(y for _, y in records)


def _objects(records: Records) -> tuple[np.ndarray, np.ndarray]:
    X = np.empty((len(records), len(records[0][0])), dtype=object)
    y = np.empty(len(records), dtype=object)
    for i, (x, target) in enumerate(records):
        X[i, :], y[i] = x, target
    return X, y


def _frame(records: Records) -> Table:
    import pandas

    X, y = _objects(records)
    frame = pandas.DataFrame({f"x{j}": X[:, j] for j in range(X.shape[1])})
    return frame, pandas.Series(y)


_FORMS: dict[str, Callable[[Records], Table]] = {
    "lists": _lists,
    "tuples": _tuples,
    "objects": _objects,
}
if find_spec("pandas") is not None:
    _FORMS["data frame"] = _frame


def _base(labels: Sequence[object]) -> Records:
    """Records whose numbers a detour through another type would change."""
    values = ([0.1, 1, -1.5], [1e-300, -2, 0.3], [True, 0, 1.0], [2, 1e-5, -0.7], [0, -1, 2.0])
    return [(list(x), labels[i % len(labels)]) for i, x in enumerate(values)]


def _with(records: Records, hostile: Record) -> Records:
    return [*records[:2], hostile, *records[2:]]


def _cells(make: Callable[[Records], Table]) -> Iterator[Disturbance]:
    """A hostile label, or a hostile feature, among records of every label set."""
    for labels in LABELS:
        base = _base(labels)
        for cell in CELLS:
            for what, hostile in (
                ("label", ([0.0, 0.0, 0.0], cell)),
                ("feature", ([0.5, cell, 1.0], labels[0])),
            ):
                name = f"{what} {type(cell).__name__} among {type(labels[0]).__name__}"
                yield Disturbance(name, make(base), make(_with(base, hostile)), 2, labels)


def _targets(make: Callable[[Records], Table]) -> Iterator[Disturbance]:
    """A hostile target among numbers."""
    for targets in ((0.3, -1.7), (1, 0), (False, True)):
        base = _base(targets)
        for cell in CELLS:
            name = f"target {type(cell).__name__} among {type(targets[0]).__name__}"
            hostile = ([0.0, 0.0, 0.0], cell)
            yield Disturbance(name, make(base), make(_with(base, hostile)), 2, None)


def _duplicates(form: Form) -> Iterator[Disturbance]:
    """Cells that are stored in many pieces, and a record whose pieces are out of order."""
    for n_pieces in (3, 17, 40):
        pieces = [(0, value) for value in CANCELING] + [(0, 0.0)] * (n_pieces - 3) + [(2, 1.0)]
        base = [pieces] * 6
        for name, hostile in (
            ("unsorted", [(2, 1.0), (1, 1.0), (0, 1.0)]),
            ("duplicates", [(1, 2.0**60), (0, 1.0), (1, 1.0), (0, 1.0), (1, -(2.0**60))]),
            ("not finite", [(2, float("nan")), (0, float("inf")), (0, -float("inf"))]),
            ("huge", [(2, 1e308), (2, 1e308), (0, 5e-324)]),
        ):
            tables = [
                (_stored(form, rows), [i % 2 for i in range(len(rows))])
                for rows in (base, [*base, hostile])
            ]
            yield Disturbance(f"{name}, {n_pieces} pieces", tables[0], tables[1], 6, (0, 1))


def _stored(form: Form, rows: list[list[tuple[int, float]]]) -> Features:
    """Rows as they are, piece by piece: SciPy's constructors would put them in order."""
    entries = [(i, j, value) for i, row in enumerate(rows) for j, value in row]
    by_columns = form is sparse.csc_array
    if by_columns:  # within a column the hostile record comes first, out of order
        entries.sort(key=lambda entry: (entry[1], entry[0] < 6))
    major = [entry[1] if by_columns else entry[0] for entry in entries]
    minor = [entry[0] if by_columns else entry[1] for entry in entries]
    starts = np.searchsorted(major, np.arange((3 if by_columns else len(rows)) + 1))
    values = np.array([entry[2] for entry in entries])
    return form((values, np.array(minor), starts), shape=(len(rows), 3))


def _files(suffix: str) -> Iterator[Disturbance]:
    """A column of categories in which one cell is missing: pandas then writes 1.0 for every 1."""
    import pandas

    columns = {"c": [0, 1, 2, 1, 0], "x": [0.5, 1.0, -1.0, 2.0, 0.0], "y": [0, 1, 1, 0, 1]}
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"records.{suffix}"

        def read(more: Mapping[str, Sequence[object]]) -> Table:
            frame = pandas.DataFrame({name: [*columns[name], *more[name]] for name in columns})
            frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
            table = read_table(path, invalid="replace", target="y", categories={"c": [0, 1, 2]})
            return table.X, table.y

        one = read({name: [] for name in columns})
        # A Parquet column has one type, which text among numbers has not.
        for cell in (None, 0.5, "text") if suffix == "csv" else (None, 0.5):
            other = read({"c": [cell], "x": [0.0], "y": [0]})
            name = f"category {type(cell).__name__} among int"
            yield Disturbance(name, one, other, len(columns["c"]), (0, 1))

"""The tests of every solver with persons as the unit, and with weights (data/gate/persons.md).

Neighbors differ in all rows of one person: up to five of them, with different labels, and of
another number where the person is replaced. Nothing here is statistical.
"""

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest

from sparsedp.audit.replay import largest_movements
from sparsedp.data.dataset import Dataset
from sparsedp.mechanisms import recording
from sparsedp.mechanisms.scripted import Scripted, ScriptedCurator
from sparsedp.privacy import Minimize, PublicFacts, PureMinimize
from sparsedp.solvers import MultinomialLasso
from sparsedp.solvers.frank_wolfe.screening_rule import column_norms
from tests.cases import (
    BOUNDS,
    LOSSES,
    SOLVERS,
    TAKEN,
    Table,
    corner_records,
    estimator,
    public_facts,
    random_table,
)
from tests.solved import recorded
from tests.whole import whole

TOLERANCE = 1e-9
Weighting = Literal["unit", "sub_unit"]
KINDS: list[tuple[str, Weighting]] = [
    ("add_remove", "unit"),
    ("replace_one", "unit"),
    ("add_remove", "sub_unit"),
    ("replace_one", "sub_unit"),
]
N_PERSONS = 9


def crowd(loss: str, weighting: str, seed: int, n: int = 24) -> Table:
    """Rows of nine persons, one of whom has most of them."""
    random = np.random.default_rng(seed)
    groups = np.concatenate([np.arange(N_PERSONS), random.integers(0, N_PERSONS, n)])[:n]
    groups[-n // 3 :] = 0
    weights = None if weighting == "unit" else random.uniform(size=n)
    return replace(random_table(loss, n, seed), groups=groups, weights=weights)


def with_person(table: Table, rows: list[tuple[np.ndarray, float]], weight: float = 1.0) -> Table:
    """The table and one person more."""
    return Table(
        np.vstack([table.X, *(x for x, _ in rows)]),
        np.append(table.y, [y for _, y in rows]),
        table.loss,
        np.concatenate([np.asarray(table.groups), np.full(len(rows), 999)]),
        None if table.weights is None else np.append(table.weights, np.full(len(rows), weight)),
    )


def neighboring_pairs(loss: str, neighbors: str, weighting: str, seed: int):
    """Tables that differ in one extreme person."""
    base, corners = crowd(loss, weighting, seed), corner_records(loss, seed)
    alike = [corners[0]] * 3  # three rows that say the same
    mixed = [corners[1], corners[4], corners[7], corners[10], corners[2]]
    opposite = [(-x, corners[1][1]) for x, _ in alike] * 2
    if neighbors == "add_remove":
        yield base, with_person(base, alike)
        yield base, with_person(base, mixed)
        return
    one = with_person(base, alike)
    yield one, with_person(base, opposite[:5])
    if weighting == "sub_unit":
        yield one, with_person(base, mixed, weight=0.0)
    yield with_person(base, mixed), with_person(base, corners[5:6])


def facts(table: Table, neighbors: str, weighting: Weighting) -> PublicFacts:
    n = table.dataset().n_persons
    units = {"unit": "person", "weighting": weighting, "rows_per_unit": None}
    return public_facts(table.loss, neighbors, n, **units)


def replayed(solver: Any, table: Table, public: PublicFacts, queries: list, layout: str):
    script = Scripted([query.answer for query in queries])
    curator, again = recording.recorded(ScriptedCurator(public, script))
    solution = solver.solve(table.dataset(layout), LOSSES[table.loss], curator)
    script.close()
    return solution, again


def movements(solver: Any, loss: str, neighbors: str, weighting: Weighting) -> float:
    """Largest movement over declared sensitivity."""
    worst = 0.0
    for seed, epsilon, layout in ((11, 1.0, "sparse"), (12, 300.0, "dense")):
        before, queries, how = None, [], {"epsilon": epsilon, "seed": seed}
        for one, other in neighboring_pairs(loss, neighbors, weighting, seed):
            public = facts(one, neighbors, weighting)
            if one is not before:  # one fit of a table for all its neighbors
                before, data = one, one.dataset(layout)
                _, queries, _ = recorded(solver, data, LOSSES[loss], public, delta=1e-3, **how)
            _, again = replayed(solver, other, public, queries, layout)
            worst = max(worst, *largest_movements(queries, again, neighbors).values())
    return worst


def has_minima(name: str) -> bool:
    """Whether persons cost more than rows, however few rows they have: see objective.md, People."""
    loss = next(loss for solver, loss in TAKEN if solver == name)
    requests = SOLVERS[name].schedule(public_facts(loss, "add_remove", 0)).requests
    return any(isinstance(each, Minimize | PureMinimize) for each in requests)


@pytest.mark.parametrize(("name", "loss"), TAKEN)
def test_no_query_moves_more_than_declared_for_a_person(name, loss):
    for neighbors, weighting in KINDS:
        worst = movements(SOLVERS[name], loss, neighbors, weighting)
        # Gradients at a minimum are less steep than at weights that noise has driven away.
        least = 0.2 if has_minima(name) else 0.5
        assert least < worst <= 1 + TOLERANCE, (neighbors, weighting)


@pytest.mark.parametrize(("name", "loss"), TAKEN)
def test_output_depends_on_persons_only_through_answers(name, loss):
    for neighbors, weighting in KINDS[1:3]:
        first = crowd(loss, weighting, 1)
        public = facts(first, neighbors, weighting)
        how = {"epsilon": 3.0, "delta": 1e-3, "seed": 2}
        solution, queries, _ = recorded(SOLVERS[name], first.dataset(), LOSSES[loss], public, **how)
        for seed, n in ((5, 40), (6, 11)):  # of any number of rows
            other = crowd(loss, weighting, seed, n)
            again, _ = replayed(SOLVERS[name], other, public, queries, "dense")
            assert whole(again) == whole(solution)


def fitted(name: str, loss: str, groups: Any) -> Any:
    table = random_table(loss, 40, 3)
    how = {"epsilon": 3.0, "delta": 1e-3, "bounds": BOUNDS, "n_nonzero": 3, "random_state": 0}
    return estimator(loss, solver=SOLVERS[name], **how).fit(table.X, table.y, groups=groups)


SAME_NOISE = [
    (name, loss)
    for name, loss in TAKEN
    if not has_minima(name)
    # Persons pay for a third selection: tests/api/test_persons.py.
    and not (isinstance(SOLVERS[name], MultinomialLasso) and loss == "multinomial")
]


@pytest.mark.parametrize(("name", "loss"), SAME_NOISE)
def test_persons_with_one_row_each_give_the_same_fit_to_the_last_bit(name, loss):
    rows, persons = fitted(name, loss, None), fitted(name, loss, range(40))
    shown = [f"patient {i:03}" for i in range(40)]
    for other in (persons, fitted(name, loss, shown)):
        assert whole((other.coef_, other.intercept_)) == whole((rows.coef_, rows.intercept_))
        assert whole(other.path_.coefs) == whole(rows.path_.coefs)


@pytest.mark.parametrize("name", ["noisy_gd", "ight", "pursuit"])
def test_a_person_of_no_weight_replaces_one_of_weight_one(name):
    # Without an intercept NoisyGD asks for count and squares alone: removing someone moves them by
    # more (B sqrt 2) than changing someone (B) does.
    def dataset(weight: float):
        table = with_person(crowd("logistic", "sub_unit", 4), [(np.full(6, 1e6), 1)] * 3, weight)
        how = {"groups": table.groups, "sample_weight": table.weights, "intercept": False}
        return Dataset.clip(table.X, table.y, BOUNDS, **how)

    one, other = dataset(1.0), dataset(0.0)
    units = {"unit": "person", "weighting": "sub_unit", "rows_per_unit": None}
    public = public_facts("logistic", "replace_one", one.n_persons, intercept=False, **units)
    how = {"epsilon": 1.0, "delta": 1e-3, "seed": 5}
    _, queries, _ = recorded(SOLVERS[name], one, LOSSES["logistic"], public, **how)
    script = Scripted([query.answer for query in queries])
    curator, again = recording.recorded(ScriptedCurator(public, script))
    SOLVERS[name].solve(other, LOSSES["logistic"], curator)
    assert max(largest_movements(queries, again, "replace_one").values()) <= 1 + TOLERANCE


def test_norms_of_columns_go_by_weight():
    # At radii where the screening rule is of use they decide, in the common tests they hardly do.
    data = crowd("squared", "sub_unit", 4).dataset()
    assert data.weights is not None
    squares = data.weights @ np.square(data.columns(np.arange(6)))
    np.testing.assert_allclose(np.square(column_norms(data)), squares)


@pytest.mark.parametrize(("neighbors", "weighting"), KINDS)
def test_the_total_weight_is_asked_for_where_it_is_private(neighbors, weighting):
    public = facts(crowd("logistic", weighting, 1), neighbors, weighting)
    known = (neighbors, weighting) == ("replace_one", "unit")
    assert public.total_weight == (N_PERSONS if known else None)
    for name in ("greedy_coordinate", "admm"):
        names = {request.name for request in SOLVERS[name].schedule(public).requests}
        assert bool({"n_records", "records"} & names) is not known

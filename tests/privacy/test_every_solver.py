"""Two tests that hold for every solver at once: non-interference and sensitivity.

Nothing here is statistical: answers come from a script or from a recorded fit.
"""

from typing import Any

import numpy as np
import pytest

from sparsedp.audit.replay import largest_movements
from sparsedp.mechanisms import recording
from sparsedp.mechanisms.scripted import Scripted, ScriptedCurator
from tests.cases import (
    LOSSES,
    N_CLASSES,
    SOLVERS,
    TAKEN,
    Table,
    corner_records,
    public_facts,
    random_table,
)
from tests.solved import recorded
from tests.whole import whole

TOLERANCE = 1e-9
"""Sums in floating point; the door adds 1e-6 to every sensitivity."""

EVERY = [(s, loss, nb) for s, loss in TAKEN for nb in ("add_remove", "replace_one")]


def recorded_fit(solver: Any, data: Any, loss: str, neighbors: str, seed: int, epsilon: float):
    """A private fit whose queries are kept; the budget is closed, so ledger == schedule."""
    public = public_facts(loss, neighbors, data.n_records)
    how = {"epsilon": epsilon, "delta": 1e-3, "seed": seed}
    solution, queries, _ = recorded(solver, data, LOSSES[loss], public, **how)
    return solution, queries


def replayed_fit(solver: Any, data: Any, loss: str, neighbors: str, queries: list):
    """The same fit on other data, with the recorded answers."""
    public = public_facts(loss, neighbors, data.n_records)
    script = Scripted([query.answer for query in queries])
    curator, again = recording.recorded(ScriptedCurator(public, script))
    solution = solver.solve(data, LOSSES[loss], curator)
    script.close()
    return solution, again


def other_tables(loss: str, neighbors: str):
    """Tables that have nothing in common; of any number of records, where that is private."""
    sizes = (40, 40, 40) if neighbors == "replace_one" else (0, 1, 40, 57)
    for seed, n in enumerate(sizes, 5):
        yield random_table(loss, n, seed).dataset("sparse" if seed % 2 else "dense")


@pytest.mark.parametrize(("name", "loss", "neighbors"), EVERY)
def test_output_depends_on_data_only_through_answers(name, loss, neighbors):
    solver = SOLVERS[name]
    solution, queries = recorded_fit(
        solver, random_table(loss, 40, 1).dataset(), loss, neighbors, seed=2, epsilon=3.0
    )
    for other in other_tables(loss, neighbors):
        replayed, _ = replayed_fit(solver, other, loss, neighbors, queries)
        assert whole(replayed) == whole(solution)


@pytest.mark.parametrize(("name", "loss"), TAKEN)
def test_sparse_and_dense_records_are_asked_the_same(name, loss):
    table, how = random_table(loss, 60, 4), (loss, "add_remove")
    _, queries = recorded_fit(SOLVERS[name], table.dataset("dense"), *how, seed=3, epsilon=5.0)
    _, again = replayed_fit(SOLVERS[name], table.dataset("sparse"), *how, queries)
    for one, other in zip(queries, again, strict=True):
        np.testing.assert_allclose(other.values, one.values, rtol=1e-6, atol=1e-5)


def neighboring_pairs(loss: str, neighbors: str, seed: int):
    """Tables that differ in one extreme record."""
    base = random_table(loss, 25, seed)
    records = corner_records(loss, seed)
    for i, (x, y) in enumerate(records):
        if neighbors == "add_remove":
            yield base, base.with_record(x, y)
        else:
            opposite = records[(i * 7 + 3) % len(records)]
            one = base.with_record(x, y)
            yield one, base.with_record(*opposite)
            yield one, base.with_record(-x, y)


def movements(name: str, loss: str, neighbors: str, solver: Any = None) -> dict[str, float]:
    """Largest movement over declared sensitivity, by kind of query, over many neighbors.

    A large epsilon lets the weights run to the corners of the ball, where the loss saturates.
    """
    solver = SOLVERS[name] if solver is None else solver
    worst: dict[str, float] = {}
    for seed, epsilon, layout in ((11, 1.0, "sparse"), (12, 300.0, "dense")):
        before, queries = None, []
        for one, other in neighboring_pairs(loss, neighbors, seed):
            if one is not before:  # one fit of a table for all its neighbors
                fit = solver, one.dataset(layout), loss, neighbors
                before, (_, queries) = one, recorded_fit(*fit, seed=seed, epsilon=epsilon)
            _, again = replayed_fit(solver, other.dataset(layout), loss, neighbors, queries)
            for kind, ratio in largest_movements(queries, again, neighbors).items():
                worst[kind] = max(worst.get(kind, 0.0), ratio)
    return worst


@pytest.mark.parametrize(("name", "loss", "neighbors"), EVERY)
def test_no_query_moves_more_than_declared(name, loss, neighbors):
    worst = movements(name, loss, neighbors)
    assert max(worst.values()) <= 1 + TOLERANCE, worst
    # The pairs are extreme enough that half the declared sensitivity would not do. Top-k scores of
    # several classes need gradients that point along one record's: see the next test.
    for kind, least in (("select", 0.9), ("select_many", 0.8), ("perturb", 0.6)):
        assert worst.get(kind, 1.0) > least, worst


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.usefixtures("chosen")
def test_pursuit_with_several_classes_declares_what_a_record_can_move(neighbors):
    # All but the rarest class sit in the middle of the box: every feature's gradient, a vector over
    # the classes, is then parallel to that of a record of the rarest class, which moves it in full.
    middle, half = np.array([0, 0.5, -1, 4, 0.5, 0]), np.array([1, 0.5, 2, 4, 1.5, 10])
    rarest = N_CLASSES - 1
    X = np.vstack([np.tile(middle + 0.9 * half, (6, 1)), np.tile(middle, (60, 1))])
    y = np.append(np.full(6, rarest), np.arange(60) % rarest)
    base, turn = Table(X, y, "multinomial"), half * [1, -1, 1, -1, 1, -1]
    one, other = base, base.with_record(middle + turn, rarest)
    if neighbors == "replace_one":
        one = base.with_record(middle - turn, rarest)
    fit = SOLVERS["pursuit"], "multinomial", neighbors
    _, queries = recorded_fit(fit[0], one.dataset(), *fit[1:], seed=1, epsilon=300.0)
    _, again = replayed_fit(fit[0], other.dataset(), *fit[1:], queries)
    assert 0.99 < largest_movements(queries, again, neighbors)["select_many"] <= 1 + TOLERANCE

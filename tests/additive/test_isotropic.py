"""Fits without a Gram matrix, as users get them: many features, loud noise, nothing set for a test.

Nothing here is statistical: fits are replayed on neighbors (shapes.md, 5).
"""

from dataclasses import replace

import numpy as np
import pytest

from sparsedp import Bounds
from sparsedp.audit.replay import largest_movements
from sparsedp.data.dataset import Dataset
from sparsedp.mechanisms import recording
from sparsedp.mechanisms.scripted import Scripted, ScriptedCurator
from sparsedp.privacy import PublicFacts
from sparsedp.solvers import Pursuit
from tests.cases import LOSSES, Table, declared, public_facts
from tests.privacy.test_every_person import with_person
from tests.solved import recorded
from tests.whole import whole

D, TOLERANCE = 64, 1e-9
BOUNDS = Bounds(lower=np.tile([-1.0, 0.0], D // 2), upper=np.tile([1.0, 5.0], D // 2))
KINDS = [
    ("add_remove", "unit", "dense"),
    ("add_remove", "sub_unit", "sparse"),
    ("replace_one", "unit", "sparse"),
    ("replace_one", "sub_unit", "dense"),
]


def crowd(loss: str, weighting: str, n: int, seed: int) -> Table:
    """Rows of persons with one to some of them."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, D)) * random.uniform(0.1, 3, size=D)
    X[random.random(X.shape) < 0.3] = 0
    groups = np.concatenate([np.arange(n - n // 3), random.integers(0, n, n // 3)])
    groups += 1000  # 999 is one more
    weights = None if weighting == "unit" else random.uniform(0.5, 1, size=n)
    return Table(X, random.integers(0, LOSSES[loss].n_classes, n), loss, groups, weights)


def dataset(table: Table, layout: str) -> Dataset:
    how = {**declared(table.loss), "groups": table.groups, "sample_weight": table.weights}
    return Dataset.clip(table.features(layout), table.y, BOUNDS, **how)


def replayed(table: Table, public: PublicFacts, queries: list, layout: str):
    script = Scripted([query.answer for query in queries])
    curator, again = recording.recorded(ScriptedCurator(public, script))
    solution = Pursuit().solve(dataset(table, layout), LOSSES[table.loss], curator)
    script.close()
    return solution, again


@pytest.mark.parametrize(("neighbors", "weighting", "layout"), KINDS)
@pytest.mark.parametrize(
    ("loss", "shapes"),
    [("logistic", "linear"), ("logistic", "additive"), ("multinomial", "additive")],
)
def test_no_person_moves_a_fit_without_a_gram_matrix_further(
    loss, shapes, neighbors, weighting, layout
):
    base, last = crowd(loss, weighting, 2000, 1), LOSSES[loss].n_classes - 1
    far = np.full(D, 1e6)
    turned = far * np.tile([1.0, -1.0], D // 2)
    people = [[(far, last)] * 3, [(-far, 0)], [(turned, 0), (-turned, last), (0 * far, 0)]]
    others = [with_person(base, rows) for rows in people]
    one = base if neighbors == "add_remove" else others.pop(0)
    how = {"unit": "person", "weighting": weighting, "rows_per_unit": None}
    public = public_facts(loss, neighbors, dataset(one, "dense").n_persons, **how)
    public = replace(public, n_features=D, n_nonzero=D, shapes=shapes)
    epsilon = 1.5 if shapes == "additive" else 0.7
    epsilon *= 2 if neighbors == "replace_one" else 1
    data = dataset(one, layout)
    solution, queries, _ = recorded(Pursuit(), data, LOSSES[loss], public, epsilon=epsilon, seed=3)
    sizes = {np.size(query.answer) for query in queries if query.kind == "perturb"}
    assert max(sizes) < D * D / 2  # no Gram matrix, or nothing is shown here
    assert bool(solution.bends) == (shapes == "additive")
    worst = 0.0
    for other in others:
        again, moved = replayed(other, public, queries, layout)
        assert whole(again) == whole(solution)
        worst = max(worst, *largest_movements(queries, moved, neighbors).values())
    assert 0.9 < worst <= 1 + TOLERANCE


@pytest.mark.parametrize("n", [0, 1, 900])
def test_answers_alone_say_that_there_is_no_gram_matrix(n):
    """On other records, of any number, the same answers lead the same way, to the last bit."""
    table = crowd("logistic", "unit", 2000, 1)
    public = public_facts("logistic", "add_remove", 0, unit="person", rows_per_unit=None)
    public = replace(public, n_features=D, n_nonzero=D, shapes="additive")
    how = {"epsilon": 1.5, "seed": 3}
    data = dataset(table, "dense")
    solution, queries, _ = recorded(Pursuit(), data, LOSSES["logistic"], public, **how)
    again, _ = replayed(crowd("logistic", "unit", n, 5), public, queries, "dense")
    assert whole(again) == whole(solution)

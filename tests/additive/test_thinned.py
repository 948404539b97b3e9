"""Features that are left out on the way, and records that store nothing where they are at an end.

Whole fits are replayed on neighbors; nothing here is statistical (shapes.md, 9).
"""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import expit

from sparsedp import Bounds, RecordBlocks, SparseLogisticRegression
from sparsedp.audit.replay import largest_movements
from sparsedp.data.columns.subset import ColumnSubset
from sparsedp.data.dataset import Dataset
from sparsedp.data.synthetic import wang_zhang
from sparsedp.fit import Plan
from sparsedp.fit.solve import door
from sparsedp.mechanisms import KeyStream, recording
from sparsedp.mechanisms.scripted import Scripted, ScriptedCurator
from sparsedp.solvers import Pursuit
from sparsedp.solvers.pursuit import prune
from sparsedp.solvers.pursuit.bounds import tightened
from sparsedp.solvers.pursuit.columns.shapes import CROWDED, Shapes
from sparsedp.solvers.pursuit.prune import FEWEST_KEPT, Elimination
from sparsedp.solvers.pursuit.records import no_features
from sparsedp.solvers.pursuit.step import ActiveSet
from tests.additive.test_releases import questions
from tests.cases import LOSSES, Table, declared, public_facts
from tests.privacy.test_every_person import with_person
from tests.solved import OneChanged, recorded
from tests.whole import whole

D, TOLERANCE = 60, 1e-9
BOX = Bounds(-1.0, 1.0)
NEIGHBORS = ("add_remove", "replace_one")


# Which features go on -----------------------------------------------------------------------------


def costs(squares: np.ndarray, sizes: np.ndarray | None = None) -> Elimination:
    """Of features in the order in which they are worth keeping."""
    sizes = np.ones(len(squares), dtype=int) if sizes is None else sizes
    return Elimination(np.arange(len(squares)), squares, sizes)


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("size", [1, 11])
def test_features_that_do_nothing_do_not_go_on(size, n_outputs):
    """Seed 0: 30 of 200 features matter, and their costs are a thousand times those of noise."""
    random = np.random.default_rng(0)
    degrees = size * n_outputs
    nothing = 0.3 * random.chisquare(degrees, 170)
    matter = 0.3 * 1000 * random.chisquare(degrees, 30)
    squares = np.sort(np.concatenate([matter, nothing]))[::-1]
    found = costs(squares, np.full(200, size))
    count = found.going_on(0.3, n_outputs)
    assert FEWEST_KEPT < count < 60
    assert np.isin(matter, squares[:count]).mean() > 0.9


@pytest.mark.parametrize("times", [1.0, 3.0, 20.0])
def test_where_no_feature_stands_out_all_go_on(times):
    """Whether all of them matter a little, or none does."""
    squares = np.sort(times * np.random.default_rng(1).chisquare(1, 200))[::-1]
    assert costs(squares).going_on(1.0, 1) == 200


@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize("strong", [1e3, 1e5, 1e9])
def test_a_strong_feature_does_not_hide_that_the_others_matter(strong, size):
    """Sixty of them, whose costs are four to eight times those of noise."""
    others = size * np.linspace(8.0, 4.0, 60)
    squares = np.concatenate([[strong * size], others])
    assert costs(squares, np.full(61, size)).going_on(1.0, 1) == 61


def test_some_features_go_on_whatever_they_have_shown():
    nothing = np.sort(np.random.default_rng(2).chisquare(1, 200))[::-1]
    nothing[0] = 1e4
    assert FEWEST_KEPT <= costs(nothing).going_on(1.0, 1) < 200
    nothing[1:] = np.minimum(nothing[1:], 1.0)
    assert costs(nothing).going_on(1.0, 1) == FEWEST_KEPT
    assert costs(nothing[:5]).going_on(1.0, 1) == 5


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("noise", [0.0, 1e-300, 1.0, 1e300])
@pytest.mark.parametrize("scale", [0.0, 1e-300, 1.0, 1e160, 1e300])
def test_whatever_answers_say_a_number_of_features_goes_on(scale, noise):
    squares = scale * np.sort(np.random.default_rng(3).uniform(size=50))[::-1]
    assert FEWEST_KEPT <= costs(squares).going_on(noise, 1) <= 50


def test_chance_of_several_classes_is_that_of_each():
    """Residuals of K outputs are longer together by the root of K: costs have K degrees."""
    found = []
    for n_outputs in (1, 4):
        spread = 0.4 * np.sqrt(n_outputs)
        response = SimpleNamespace(spread=spread, curvature=0.2, n_records=100.0)
        held = SimpleNamespace(response=response, weights=np.zeros((3, n_outputs)))
        found.append(vars(ActiveSet)["_chance"].__get__(held))
    assert found == pytest.approx([0.04, 0.04])


# Whole fits ---------------------------------------------------------------------------------------


@pytest.fixture
def thinned(monkeypatch):
    """How many features went on, in every fit that was made; these are left out lightly."""
    for name, value in (("MOSTLY_SEEN", 0.0), ("STANDING_OUT", 0.0), ("LEAST_LIKELY", 0.5)):
        monkeypatch.setattr(prune, name, value)
    found, honest = [], ActiveSet.thin

    def noted(self, trail):
        honest(self, trail)
        found.append(len(self.features))

    monkeypatch.setattr(ActiveSet, "thin", noted)
    return found


def few_matter(loss: str, n: int, seed: int, groups: bool = False) -> Table:
    """Three of many features matter, a third of them flags that few records have."""
    random = np.random.default_rng(seed)
    X = random.uniform(-1, 1, (n, D))
    flags = X[:, ::3]
    flags[:] = np.where(random.random(flags.shape) < 0.1, 1.0, -1.0)
    margins = 4 * X[:, 1] - 4 * X[:, 2] + X[:, 0]
    if LOSSES[loss].n_classes is None:
        y = np.clip(margins + random.normal(size=n), -9, 9)
        y = np.floor(np.abs(y)) if loss == "poisson" else y
    else:
        y = (random.random(n) < expit(margins)).astype(int)
    who = np.concatenate([np.arange(n - n // 4), random.integers(0, n // 2, n // 4)])
    return Table(X, y, loss, who if groups else None)


def dataset(table: Table, layout: str = "dense") -> Dataset:
    return Dataset.clip(
        table.features(layout), table.y, BOX, groups=table.groups, **declared(table.loss)
    )


def facts(loss: str, neighbors: str, n: int, shapes: str, **more):
    public = public_facts(loss, neighbors, n, **more)
    return replace(public, n_features=D, n_nonzero=D, shapes=shapes, interactions=True)


HOW = {"delta": 1e-3, "seed": 3}


def replayed(data, public, queries: list, loss: str):
    script = Scripted([query.answer for query in queries])
    curator, again = recording.recorded(ScriptedCurator(public, script))
    solution = Pursuit().solve(data, LOSSES[loss], curator)
    script.close()
    return solution, again


CASES = [
    ("logistic", "auto", 20.0),
    ("logistic", "linear", 4.0),  # without a Gram matrix
    ("squared", "auto", 50.0),
    ("poisson", "linear", 50.0),
]


@pytest.mark.parametrize("unit", ["row", "person"])
@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize(("loss", "shapes", "epsilon"), CASES)
def test_no_query_moves_more_than_declared(thinned, loss, shapes, epsilon, neighbors, unit):
    base = few_matter(loss, 1500, 1, unit == "person")
    far, low, high = np.full(D, 1e6), 0, 1
    if LOSSES[loss].n_classes is None:
        low, high = (0, 9) if loss == "poisson" else (-9, 9)
    turned = far * np.tile([1.0, -1.0], D // 2)
    people = [[(far, high)], [(-far, low)], [(turned, low)], [(0 * far, high)]]
    if unit == "person":
        people.append([(far, high), (turned, low), (-turned, high)])
        others = [with_person(base, rows) for rows in people]
    else:
        others = [base.with_record(*rows[0]) for rows in people]
    one = base if neighbors == "add_remove" else others.pop(0)
    data = dataset(one)
    n = data.n_persons if unit == "person" else data.n_records
    more = {"unit": "person", "rows_per_unit": None} if unit == "person" else {}
    public = facts(loss, neighbors, n, shapes, **more)
    epsilon *= 2 if neighbors == "replace_one" else 1
    solution, queries, _ = recorded(Pursuit(), data, LOSSES[loss], public, epsilon=epsilon, **HOW)
    worst = 0.0
    for other in others:
        again, moved = replayed(dataset(other), public, queries, loss)
        assert whole(again) == whole(solution)
        worst = max(worst, *largest_movements(queries, moved, neighbors).values())
    assert 0.4 < worst <= 1 + TOLERANCE
    assert FEWEST_KEPT <= thinned[0] < D - 5  # or nothing is shown here
    assert set(thinned) == {thinned[0]}


@pytest.mark.parametrize(("loss", "shapes", "epsilon"), CASES)
def test_answers_alone_say_who_goes_on(thinned, loss, shapes, epsilon):
    """On other records, of any number and in any storage, to the last bit."""
    table = few_matter(loss, 1500, 1)
    public = facts(loss, "add_remove", 1500, shapes)
    how = {"epsilon": epsilon, **HOW}
    solution, queries, _ = recorded(Pursuit(), dataset(table), LOSSES[loss], public, **how)
    for seed, n in enumerate((0, 1, 700), 5):
        random = np.random.default_rng(seed)
        other = few_matter(loss, n, seed)
        other = replace(other, X=random.permutation(other.X, axis=1))  # other features matter
        blocks = RecordBlocks.from_arrays(other.X, other.y, rows_per_block=67)
        for data in (dataset(other), blocks.clip(BOX, **declared(loss))):
            again, asked = replayed(data, public, queries, loss)
            assert whole(again) == whole(solution)
            assert questions(asked) == questions(queries)
    assert set(thinned) == {thinned[0]}
    assert thinned[0] < D - 5


@pytest.mark.parametrize(("loss", "shapes", "epsilon"), CASES)
def test_blocks_and_sparse_records_are_asked_the_same(loss, shapes, epsilon):
    table = few_matter(loss, 1500, 1)
    public = facts(loss, "add_remove", 1500, shapes)
    how = {"epsilon": epsilon, **HOW}
    _, queries, _ = recorded(Pursuit(), dataset(table), LOSSES[loss], public, **how)
    stored = sparse.csr_array(table.X)
    others = [
        RecordBlocks.from_arrays(X, table.y, rows_per_block=67).clip(BOX, **declared(loss))
        for X in (table.X, stored)
    ]
    for data in (*others, dataset(table, "sparse")):
        _, again = replayed(data, public, queries, loss)
        for one, other in zip(queries, again, strict=True):
            assert_allclose(other.values, one.values, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("number", range(12))
def test_huge_moments_do_not_end_a_fit(number):
    """Noise may be anything: a Gram matrix of nothing but noise has blocks that are singular."""
    data = dataset(few_matter("squared", 800, 4))
    public = facts("squared", "add_remove", 800, "auto")
    plan = Plan.of(Pursuit(), LOSSES["squared"], public)
    solution, queries, _ = recorded(
        Pursuit(), data, LOSSES["squared"], public, epsilon=200.0, **HOW
    )
    gram = max(range(len(queries)), key=lambda i: np.size(queries[i].answer))
    with door(plan.budget(200.0, 1e-3), public, KeyStream.from_seed(number)) as curator:
        factor = 10.0 ** (7 + number / 2)
        answers = OneChanged(curator.answers, gram, lambda found: factor * found)
        solution = Pursuit().solve(data, LOSSES["squared"], replace(curator, answers=answers))
    assert np.isfinite(solution.weights).all()


def gained(monkeypatch, model, X, y, seen: int) -> float:
    """What leaving out changes, on records that fits have not seen."""
    thin = model.fit(X[:seen], y[:seen]).score(X[seen:], y[seen:])
    monkeypatch.setattr(prune, "LEAST_LIKELY", -1.0)
    return thin - model.fit(X[:seen], y[:seen]).score(X[seen:], y[seen:])


def test_what_is_left_out_makes_the_rest_better(monkeypatch):
    """Records and noise have fixed seeds: nothing is left to chance."""
    made = wang_zhang(seed=0)
    classes = sorted(set(made.y))
    model = SparseLogisticRegression(
        epsilon=0.5, delta=1e-6, bounds=BOX, classes=classes, random_state=0
    )
    assert gained(monkeypatch, model, made.X, made.y, 6000) > 0.02


def test_nothing_is_left_out_where_weak_features_matter_beside_a_strong_one(monkeypatch):
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (15_000, 60))
    weights = np.append(6.0, random.choice([-0.4, 0.4], 59))
    y = (random.random(15_000) < expit(X @ weights)).astype(int)
    model = SparseLogisticRegression(
        epsilon=1.0, delta=1e-6, bounds=BOX, classes=[0, 1], random_state=0
    )
    assert gained(monkeypatch, model, X, y, 10_000) > -0.002


# What is at an end is not stored ------------------------------------------------------------------


def test_shapes_know_at_which_end_records_crowd():
    away = np.array([[0.1, 1.0], [0.9, 0.05], [0.5, 0.5], [0.0, 1.0]])
    shapes = Shapes.of_ends(away)
    assert_array_equal(shapes.ends, [-1, 1, -1, -1])
    assert shapes.crowded == (away.min(axis=1).mean() <= CROWDED)
    assert not Shapes.of_ends(np.full((4, 2), 0.5)).crowded


def crowded(n: int, seed: int) -> Table:
    """All but three features are flags that one record in ten has."""
    table = few_matter("logistic", n, seed)
    flags = np.random.default_rng(seed + 1).random((n, D - 3)) < 0.1
    table.X[:, 3:] = np.where(flags, 1.0, -1.0)
    return table


def test_released_counts_tell_at_which_end_records_are(monkeypatch):
    """Where noise is low; else nothing is known of them."""
    public = facts("logistic", "add_remove", 1500, "linear")
    seen = []
    monkeypatch.setattr(
        "sparsedp.solvers.pursuit.pursuit.tightened",
        lambda *a, **k: seen.append(tightened(*a, **k)) or seen[-1],
    )
    data = dataset(crowded(1500, 1))
    for epsilon in (300.0, 4.0):
        how = {"epsilon": epsilon, **HOW}
        _, queries, _ = recorded(Pursuit(), data, LOSSES["logistic"], public, **how)
        (counts,) = (q.answer for q in queries if np.shape(q.answer) == (D, 3, 10))
        if epsilon > 4:
            sums, away = counts[:, :2].sum(axis=2), seen[0].away
            assert_allclose(away * sums[0, 0] / away[0, 0], sums, rtol=1e-12)
            assert_allclose(away[3:, 0], 0.1, atol=0.05)
            assert_allclose(away[3:, 1], 0.9, atol=0.05)
    assert_array_equal(seen[1].away, 0.5)


def test_answers_alone_say_what_is_stored(monkeypatch):
    """With the same answers other records are stored the same way, though they are at no end."""
    made, honest = [], ColumnSubset.with_hats.__func__
    monkeypatch.setattr(
        ColumnSubset, "with_hats", classmethod(lambda *a: made.append(1) or honest(*a))
    )
    public = facts("logistic", "add_remove", 1500, "linear")
    data, how = dataset(crowded(1500, 1)), {"epsilon": 100.0, **HOW}
    solution, queries, _ = recorded(Pursuit(), data, LOSSES["logistic"], public, **how)
    once = len(made)
    assert once  # nothing bends, so it is for the ends alone
    for table in (few_matter("logistic", 700, 3), few_matter("logistic", 0, 3)):
        again, asked = replayed(dataset(table), public, queries, "logistic")
        assert whole(again) == whole(solution)
        assert questions(asked) == questions(queries)
    assert len(made) == 3 * once
    people = [(np.full(D, 1e6), 1), (np.full(D, -1e6), 0)]
    for person in people:
        _, moved = replayed(
            dataset(crowded(1500, 1).with_record(*person)), public, queries, "logistic"
        )
        worst = max(largest_movements(queries, moved, "add_remove").values())
        assert 0.4 < worst <= 1 + TOLERANCE


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_columns_are_the_same_whether_ends_are_stored_or_not(layout):
    table = few_matter("logistic", 300, 4)
    data = dataset(table, layout)
    features, nothing = np.arange(D), no_features(data)
    shapes = Shapes.of_ends(np.tile([0.1, 0.9], (D, 1)))
    plain = ColumnSubset.of(data, features, nothing)
    how = shapes.knots, shapes.ends, shapes.basis(features)
    found = ColumnSubset.with_hats(data, features, *how, nothing)
    assert found.storage.nnz < 300 * D * 0.75
    random = np.random.default_rng(0)
    matrix, residuals = np.tril(random.normal(size=(1 + D,) * 2)), random.normal(size=(300, 2))
    assert_allclose(found.margins(matrix), plain.margins(matrix), atol=1e-12)
    assert_allclose(found.gram(1), plain.gram(1), atol=1e-9)
    assert_allclose(found.sums(residuals, matrix), plain.sums(residuals, matrix), atol=1e-9)
    true = np.linalg.norm(plain.margins(matrix), axis=1)
    assert (found.lengths(matrix) >= true * (1 - 1e-14)).all()
    assert_allclose(found.lengths(matrix), true, rtol=1e-9)

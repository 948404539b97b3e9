"""Products of features in Pursuit: which of them, a metric from moments, whole fits.

Whole fits are replayed on neighbors; the bounds are theorems (columns/shapes.md).
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsedp import Bounds, SparseLinearRegression, SparseLogisticRegression
from sparsedp.audit.replay import largest_movements
from sparsedp.data.dataset import Dataset
from sparsedp.fit import Plan
from sparsedp.fit.solve import door
from sparsedp.mechanisms import KeyStream, recording
from sparsedp.mechanisms.scripted import Scripted, ScriptedCurator
from sparsedp.solvers import Pursuit
from sparsedp.solvers.pursuit import step
from sparsedp.solvers.pursuit.columns import pairs as pairs_file
from sparsedp.solvers.pursuit.columns.pairs import (
    MOST_PAIRS,
    PairMetric,
    Pairs,
    apart,
    most_pairs,
    strongest,
    within_reach,
)
from sparsedp.solvers.pursuit.frame import Frame
from sparsedp.solvers.pursuit.prune import nearest
from tests.additive.test_releases import (
    KINDS,
    NEIGHBORS,
    TOLERANCE,
    crowd,
    facts,
    in_blocks,
    questions,
    replayed,
    units,
    with_person,
)
from tests.cases import LOSSES, N_FEATURES, random_table
from tests.solved import OneChanged, recorded
from tests.whole import whole

BOX = Bounds(-1.0, 1.0)


# Which pairs, and their metric --------------------------------------------------------------------


def test_more_records_and_less_noise_have_more_pairs_up_to_a_limit():
    assert most_pairs(10**6, 0.25, 10**6) == MOST_PAIRS
    assert most_pairs(10**6, 0.25, 50.0) == 0
    assert most_pairs(100.0, 0.25, 10**6) == 0
    counts = [most_pairs(2000.0, 0.25, signal) for signal in (0.0, 50, 100, 200, 500, 900, np.inf)]
    assert counts == sorted(counts)
    assert counts[0] == 0 < counts[-1]
    assert most_pairs(2000.0, 0.25, 10**6, 5) == most_pairs(400.0, 0.25, 10**6)
    # One class in a hundred says less than one in two.
    assert most_pairs(2000.0, 0.01, 10**6) < most_pairs(2000.0, 0.25, 10**6)


def test_pairs_are_those_of_the_features_that_move_margins_most():
    """Three features, the middle one of two columns and without a weight; a constant first."""
    metric = np.diag([1.0, 0.5, 0.5, 0.5, 0.1])
    weights = np.array([[9.0], [1.0], [0.0], [0.0], [2.0]])
    sizes = np.array([1, 2, 1])
    assert_array_equal(strongest(metric, weights, sizes, 1), [0, 2])
    assert_array_equal(strongest(metric, weights, sizes, 2), [0, 2])  # three features have three
    assert_array_equal(strongest(metric, weights, sizes, 3), [0, 1, 2])
    pairs = Pairs.among(np.array([4, 1, 2]))
    assert list(zip(pairs.first, pairs.second, strict=True)) == [(1, 2), (1, 4), (2, 4)]
    # In the order 1, 2, 4 the pair of 1 and 2 is whole with the second feature.
    assert_array_equal(pairs.entering(np.array([1, 2, 4]), 5), [1, 2, 2])
    assert_array_equal(pairs.entering(np.array([4, 2, 1]), 5), [2, 2, 1])
    assert_array_equal(pairs.only(np.array([2, 0])).numbers, [0, 2])


def moments(d: int, seed: int) -> np.ndarray:
    """Mean products of a constant and normal columns."""
    random = np.random.default_rng(seed)
    root, means = random.normal(size=(d, d)) / np.sqrt(d), random.normal(size=d)
    found = np.eye(1 + d)
    found[0, 1:] = found[1:, 0] = means
    found[1:, 1:] = root @ root.T + np.outer(means, means)
    return found


@pytest.mark.parametrize("seed", range(5))
def test_what_is_left_of_a_product_is_what_normal_columns_leave(seed):
    """Exact normal moments of up to order four (Isserlis 1918), by cumulants."""
    metric, (first, second) = moments(4, seed), np.triu_indices(4, 1)
    law = PairMetric.of(metric, 1 + first, 1 + second)
    mean, cov = metric[0, 1:], metric[1:, 1:] - np.outer(metric[0, 1:], metric[0, 1:])
    assert_allclose(law.centers, metric[0], atol=1e-12)
    assert_allclose(law.levels, cov[first, second], atol=1e-12)
    # Plain products in the place of (u - mean)(v - mean) - cov.
    plain = law.plain(np.vstack([np.zeros((5, 6)), np.eye(6)]))
    assert_array_equal(plain[5:], np.eye(6))
    for p, (i, j) in enumerate(zip(first, second, strict=True)):
        # E[uv] + E[z]'left = 0, and E[uv u_k] + E[u_k z']left = 0 for every column.
        product = mean[i] * mean[j] + cov[i, j]
        assert product + metric[0] @ plain[:5, p] == pytest.approx(0, abs=1e-12)
        for k in range(4):
            third = product * mean[k] + mean[i] * cov[j, k] + mean[j] * cov[i, k]
            assert third + metric[1 + k] @ plain[:5, p] == pytest.approx(0, abs=1e-12)
    rest = cov[np.ix_(first, first)] * cov[np.ix_(second, second)]
    across = cov[np.ix_(first, second)]
    rest = rest + across * across.T
    expected = np.diag(law.vectors.T @ rest @ law.vectors)
    assert_allclose(law.likely, expected / law.roots**2, atol=1e-12)


def test_plain_products_have_the_same_margins():
    """Of several models at once, as a path has them."""
    random = np.random.default_rng(4)
    first, second = np.array([0, 0, 1, 2]), np.array([1, 2, 3, 3])
    law = PairMetric.of(moments(4, 2), 1 + first, 1 + second)
    X, weights = random.normal(size=(50, 4)), random.normal(size=(3, 9, 2))
    table = np.column_stack([np.ones(50), X])
    about = X - law.centers[1:]
    inner = np.column_stack([table, about[:, first] * about[:, second] - law.levels])
    plain = np.column_stack([table, X[:, first] * X[:, second]])
    assert_allclose(plain @ law.plain(weights), inner @ weights, atol=1e-9)


FAR = {
    "rare": lambda random: np.where(random.random((4000, 4)) < 0.02, 1.0, -1.0),
    "exclusive": lambda random: 2.0 * np.eye(5)[random.choice(5, 4000, p=[0.8, *[0.05] * 4])] - 1,
    "twins": lambda random: np.repeat(np.where(random.random((4000, 1)) < 0.1, 1.0, -1.0), 3, 1),
    "heavy": lambda random: (random.standard_t(2, (4000, 4)) / 20).clip(-1, 1),
    "large together": lambda random: (
        np.where(random.random((4000, 1)) < 0.05, 1, 0.02) * random.uniform(-1, 1, (4000, 4))
    ),
    "uniform": lambda random: random.uniform(-1, 1, (4000, 4)),
}


@pytest.mark.parametrize("kind", FAR)
def test_no_product_has_a_larger_mean_square_than_steps_go_by(kind):
    """However far features are from normal ones: steps that are too long drive weights away."""
    X = FAR[kind](np.random.default_rng(0))
    table = np.column_stack([np.ones(len(X)), X])
    first, second = np.triu_indices(X.shape[1], 1)
    law = PairMetric.of(table.T @ table / len(X), 1 + first, 1 + second)
    about = X - law.centers[1:]
    rest = about[:, first] * about[:, second] - law.levels
    metric = law.vectors * law.roots**2 @ law.vectors.T
    assert (np.mean(rest**2, axis=0) <= np.diag(metric) * (1 + 1e-9)).all()


def test_rare_indicators_and_features_that_are_nearly_the_same_do_not_pair():
    random = np.random.default_rng(0)
    numbers = random.uniform(-1, 1, (4000, 3))
    rare = np.where(random.random((4000, 1)) < 0.02, 1.0, -1.0)
    twin = numbers[:, :1] + 0.05 * random.normal(size=(4000, 1))
    table = np.column_stack([np.ones(4000), numbers, rare, twin])
    metric, weights = table.T @ table / 4000, np.ones((6, 1))
    assert_array_equal(strongest(metric, weights, np.ones(5, dtype=int), 45), [0, 1, 2, 4])
    pairs = Pairs.among(np.array([0, 1, 2, 4]))
    left = pairs.only(apart(metric, 1 + pairs.first, 1 + pairs.second)).anew()
    found = list(zip(left.first, left.second, strict=True))
    assert found == [(0, 1), (0, 2), (1, 2), (1, 4), (2, 4)]
    assert_array_equal(left.numbers, np.arange(5))


@pytest.mark.parametrize("kind", ["normal", "twins", "nothing"])
def test_coordinates_and_back_undo_each_other(kind):
    metric = moments(4, 0)
    if kind == "twins":
        metric[:, 2], metric[2] = metric[:, 1], metric[1]
    if kind == "nothing":
        metric[1:, 1:] = 0
    first, second = np.triu_indices(4, 1)
    law = PairMetric.of(metric, 1 + first, 1 + second)
    frame = Frame.by_eigenvectors(metric, 0.0, 2.0)
    wide = frame.followed(law.whitening, law.unwhitening, law.likely)
    assert np.isfinite(wide.whitening).all()
    assert_allclose(wide.whitening @ wide.unwhitening, np.eye(11), atol=1e-9)
    assert_array_equal(wide.whitening[:5, :5], frame.whitening)
    assert not wide.whitening[5:, :5].any()
    assert not wide.whitening[:5, 5:].any()
    assert_allclose(wide.unwhitening.T @ wide.unwhitening, wide.metric, atol=1e-9)
    assert len(wide.likely) == 11


# Whole fits ---------------------------------------------------------------------------------------


@pytest.fixture
def lenient(monkeypatch):
    """Pairs come to few records of several classes too, and stay, whatever noise says of them."""
    monkeypatch.setattr(pairs_file, "PER_RECORD", 1.0)
    monkeypatch.setattr(step, "PAIR_EVIDENCE", 0.0)
    monkeypatch.setattr(step, "PROMISING", 0.0)


def paired(loss: str, neighbors: str, n: int, **more):
    public = facts(loss, neighbors, n, N_FEATURES, **more)
    return replace(public, shapes="auto", interactions=True)


HOW = {"epsilon": 200.0, "delta": 1e-3, "seed": 3}


def solved(data: Dataset, loss: str, public):
    solution, queries, _ = recorded(Pursuit(), data, LOSSES[loss], public, **HOW)
    assert solution.interactions  # or nothing is shown here
    return solution, queries


@pytest.mark.usefixtures("lenient")
@pytest.mark.parametrize(("neighbors", "weighting"), KINDS)
@pytest.mark.parametrize("loss", LOSSES)
def test_no_query_moves_more_than_declared_for_a_person(loss, neighbors, weighting):
    base, extreme = crowd(loss, 600, 11, weighting), units(loss)
    others = [with_person(base, rows) for rows in extreme]
    first = base if neighbors == "add_remove" else others[0]
    if weighting == "sub_unit":
        others.append(with_person(base, extreme[0], weight=0.0))
    how = {"unit": "person", "weighting": weighting, "rows_per_unit": None}
    public = paired(loss, neighbors, first.dataset().n_persons, **how)
    solution, queries = solved(first.dataset("dense"), loss, public)
    worst = 0.0
    for other in others:
        again, moved = replayed(other, public, queries)
        assert whole(again) == whole(solution)
        worst = max(worst, *largest_movements(queries, moved, neighbors).values())
    assert 0.5 < worst <= 1 + TOLERANCE


@pytest.mark.usefixtures("lenient")
@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("loss", LOSSES)
def test_with_the_same_answers_pairs_are_the_same_to_the_last_bit(loss, neighbors):
    """Whatever the data, of any number of records where that is private, in any storage."""
    table = random_table(loss, 600, 1)
    public = paired(loss, neighbors, 600)
    solution, queries = solved(table.dataset("dense"), loss, public)
    sizes = (600, 600) if neighbors == "replace_one" else (0, 1, 340)
    for seed, n in enumerate(sizes, 5):
        other = random_table(loss, n, seed)
        for data in (other.dataset("dense"), in_blocks(other, 67)):
            again, asked = replayed(other, public, queries, data)
            assert whole(again) == whole(solution)
            assert questions(asked) == questions(queries)


@pytest.mark.usefixtures("lenient")
@pytest.mark.parametrize("loss", LOSSES)
def test_blocks_and_sparse_records_are_asked_the_same(loss):
    table = random_table(loss, 600, 1)
    public = paired(loss, "add_remove", 600)
    _, queries = solved(table.dataset("dense"), loss, public)
    others = {
        "blocks": in_blocks(table, 67),
        "sparse blocks": in_blocks(table, 67, "sparse"),
        "sparse": table.dataset("sparse"),
    }
    for name, data in others.items():
        script = Scripted([query.answer for query in queries])
        curator, again = recording.recorded(ScriptedCurator(public, script))
        Pursuit().solve(data, LOSSES[loss], curator)
        for one, other in zip(queries, again, strict=True):
            assert_allclose(other.values, one.values, rtol=1e-6, atol=1e-5, err_msg=name)


@pytest.mark.usefixtures("lenient")
@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_a_huge_answer_does_not_end_a_fit(loss):
    """Noise may be anything: with squares of such moments the metric of pairs would be singular."""
    data = random_table(loss, 600, 1).dataset("dense")
    public = paired(loss, "add_remove", 600)
    plan = Plan.of(Pursuit(), LOSSES[loss], public)
    _, queries = solved(data, loss, public)
    shapes = [np.shape(query.answer) for query in queries]
    tables = [number for number, shape in enumerate(shapes) if min(shape, default=0) > 1]
    assert tables  # the Gram matrix is one of them
    for number, size, seed in product(tables, (1e9, 1e12), range(3)):
        with door(plan.budget(200.0, 1e-3), public, KeyStream.from_seed(3)) as curator:
            noise = np.random.default_rng(seed)

            def huge(found, noise=noise, size=size):
                return size * noise.normal(size=np.shape(found))

            curator = replace(curator, answers=OneChanged(curator.answers, number, huge))
            solution = Pursuit().solve(data, LOSSES[loss], curator)
        assert np.isfinite(solution.weights).all()
        assert all(np.isfinite(pair.weights).all() for pair in solution.interactions)


@pytest.mark.parametrize("size", [0.9, 1e4, 1e8, 1e12, np.inf, np.nan])
def test_moments_that_no_features_have_make_no_pairs(size):
    metric = np.eye(4)
    assert within_reach(metric)
    metric[1, 2] = metric[2, 1] = size
    assert within_reach(metric) == (size < 1)
    assert not within_reach(1e9 * np.ones((4, 4)))  # alike all of them, the constant too


def test_without_interactions_or_with_fewer_features_there_are_no_pairs():
    table = random_table("logistic", 600, 1)
    public = paired("logistic", "add_remove", 600)
    for other in (replace(public, interactions=False), replace(public, n_nonzero=3)):
        solution, _, _ = recorded(
            Pursuit(), table.dataset("dense"), LOSSES["logistic"], other, **HOW
        )
        assert not solution.interactions


def test_what_stays_makes_up_for_what_does_not():
    """Nearest weights on some of six columns, one and then three of which are in a model."""
    random = np.random.default_rng(0)
    root = random.normal(size=(6, 6))
    metric, weights = root @ root.T + np.eye(6), random.normal(size=(6, 2))
    found = nearest(metric, weights, np.array([0, 5, 2, 3]), np.array([1, 3]))
    for one, kept in zip(found, ([0, 5], [0, 2, 3, 5]), strict=True):
        away = metric @ (weights - one)
        assert_allclose(away[kept], 0, atol=1e-9)
        assert not np.delete(one, kept, axis=0).any()


# What they are for --------------------------------------------------------------------------------


def crossed(n: int, seed: int):
    """Six features, the first two of which matter together only."""
    random = np.random.default_rng(seed)
    X = random.uniform(-1, 1, (n, 6))
    return random, X, 3 * X[:, 0] * X[:, 1] + X[:, 2]


def gain(model, X, y, seen: int) -> float:
    """How much better pairs are, on records that the fit has not seen."""
    auto = model.fit(X[:seen], y[:seen])
    with_pairs = auto.score(X[seen:], y[seen:])
    added = model.set_params(shapes="additive").fit(X[:seen], y[:seen])
    return with_pairs - added.score(X[seen:], y[seen:])


@pytest.mark.parametrize("epsilon", [2.0, np.inf])
def test_what_interacts_is_found(epsilon):
    """Records and noise have fixed seeds: nothing is left to chance.

    Records are enough for all pairs of six features: alone, two of them move nothing.
    """
    random, X, margins = crossed(16000, 0)
    y = margins + 0.5 * random.normal(size=len(X))
    how = {"epsilon": epsilon, "delta": 1e-6, "bounds": BOX, "random_state": 0}
    assert gain(SparseLinearRegression(target_bounds=(-5, 5), **how), X, y, 12000) > 0.2
    labels = (random.logistic(size=len(X)) < 2 * margins).astype(int)
    model = SparseLogisticRegression(classes=[0, 1], **how)
    assert gain(model, X, labels, 12000) > 0.05
    model.set_params(shapes="auto").fit(X[:12000], labels[:12000])
    (strong,) = [pair for pair in model.interactions_ if pair.features == (0, 1)]
    assert strong.weights[0] > 1


def test_indicators_that_exclude_each_other_do_no_harm():
    """Products of these are lines: features make up for what pairs that do not stay had taken."""
    random = np.random.default_rng(0)
    place = random.choice(7, 20_000, p=[0.84, 0.07, 0.03, 0.02, 0.02, 0.01, 0.01])
    X = np.column_stack([place[:, None] == np.arange(1, 7), random.beta(9, 7, 20_000)]) * 1.0
    y = np.array([0, -3, 2, -1, 3, 1, -2])[place] + 2 * X[:, 6] + random.normal(size=20_000)
    for seed in range(4):
        how = {"epsilon": 3.0, "delta": 1e-6, "bounds": Bounds(0, 1), "random_state": seed}
        assert gain(SparseLinearRegression(target_bounds=(-8, 8), **how), X, y, 15_000) > -0.02


def test_pairs_that_do_nothing_do_not_stay():
    """Of 28 pairs that are tried; with noise of a fixed seed."""
    random = np.random.default_rng(3)
    X = random.uniform(-1, 1, (6000, 8))
    margins = X @ [2, 1, 1, 0.5, 0, 0, 0, 0]
    how = {"epsilon": 8.0, "delta": 1e-6, "bounds": BOX, "random_state": 0}
    number = SparseLinearRegression(target_bounds=(-8, 8), **how)
    assert len(number.fit(X, margins + random.normal(size=6000)).interactions_) <= 2
    labels = (random.logistic(size=6000) < margins).astype(int)
    model = SparseLogisticRegression(classes=[0, 1], **how).fit(X, labels)
    assert len(model.interactions_) <= 7


def test_few_records_without_noise_are_not_overfitted():
    random, X, _ = crossed(5200, 1)
    y = X[:, 2] + random.normal(size=len(X))
    how = {"epsilon": np.inf, "delta": 1e-6, "bounds": BOX, "random_state": 0}
    assert gain(SparseLinearRegression(target_bounds=(-5, 5), **how), X, y, 200) > -0.02


def test_pairs_that_tell_nothing_of_records_left_out_are_not_there():
    random = np.random.default_rng(2)
    X, y = random.uniform(-1, 1, (600, 6)), random.normal(size=600)
    model = SparseLinearRegression(
        epsilon=np.inf, delta=1e-6, bounds=BOX, target_bounds=(-5, 5), random_state=0
    )
    assert model.fit(X, y).interactions_ == ()

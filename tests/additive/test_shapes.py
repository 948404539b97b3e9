"""Features that bend: what private shapes find, in any storage. Seeds are fixed throughout."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression
from sklearn.metrics import log_loss

from sparsedp import Bounds, RecordBlocks
from sparsedp.solvers.pursuit.columns.ball import about_zero
from sparsedp.solvers.pursuit.columns.gram import Alike
from sparsedp.solvers.pursuit.columns.shapes import Room, _n_cells
from sparsedp.solvers.pursuit.prune import Elimination
from tests.solvers.test_pursuit import classifier, regressor


def bent_table(n=6000, task="logistic"):
    """Feature 0 counts by its distance from zero, feature 1 by its sign, 2 and 3 not at all."""
    random = np.random.default_rng(5)
    X = random.uniform(-1, 1, size=(n, 4))
    score = 8 * (np.abs(X[:, 0]) - 0.5) + 3 * np.sign(X[:, 1])
    if task == "squared":
        return X, score + random.normal(size=n)
    if task == "multinomial":
        noise = random.gumbel(size=(n, 3))
        return X, np.argmax(noise + np.outer(score, [1, 0, -1]), axis=1)
    return X, (random.random(n) < 1 / (1 + np.exp(-score))).astype(int)


def fitted(task, epsilon, **settings):
    X, y = bent_table(task=task)
    common = {"bounds": Bounds(-1, 1), "n_nonzero": 2}
    if task == "squared":
        model = regressor(epsilon, **common | {"target_bounds": (-12, 12)} | settings)
    else:
        model = classifier(epsilon, **common | settings)
    return model.fit(X, y)


def quality(task, model):
    """R2, or how much smaller the log loss is than that of the base rates."""
    X, y = bent_table(task=task)
    if task == "squared":
        return model.score(X, y)
    rates = np.bincount(y) / len(y)
    return 1 - log_loss(y, model.predict_proba(X)) / -np.sum(rates * np.log(rates))


@pytest.mark.parametrize("task", ["logistic", "multinomial", "squared"])
@pytest.mark.parametrize("epsilon", [2.0, float("inf")])
def test_shapes_find_what_lines_cannot(task, epsilon):
    straight, bent = (fitted(task, epsilon, shapes=shapes) for shapes in ("linear", "auto"))
    assert straight.bends_ == ()
    assert {bend.feature for bend in bent.bends_} == {0, 1}
    assert np.flatnonzero(np.atleast_2d(bent.coef_).any(axis=0)).tolist() == [0, 1]
    assert quality(task, bent) > quality(task, straight) + 0.2
    if epsilon == 2.0:  # and little is lost by noise
        assert quality(task, bent) > quality(task, fitted(task, float("inf"))) - 0.03


def test_without_noise_shapes_are_least_squares_on_their_knots():
    """A model that is linear between the knots of both features cannot be better."""
    X, y = bent_table(task="squared")
    model = fitted("squared", float("inf"))
    columns = []
    for bend in model.bends_:
        hats = np.eye(len(bend.knots))
        columns += [np.interp(X[:, bend.feature], bend.knots, hat) for hat in hats]
    best = LinearRegression().fit(np.column_stack(columns), y)
    # The model has fewer waves than knots.
    assert 0 <= best.score(np.column_stack(columns), y) - model.score(X, y) < 0.01
    # Residuals are orthogonal to the straight columns, which the model has.
    residuals = y - model.predict(X)
    assert np.abs(X[:, :2].T @ residuals).max() < 1e-3 * len(y) * np.std(residuals)


def test_features_of_two_values_stay_straight():
    X, y = bent_table()
    X[:, 1] = np.where(X[:, 1] > 0, 1, -1)
    for binary in (None, [1]):
        bounds = Bounds(np.full(4, -1.0), np.full(4, 1.0), binary=binary)
        model = classifier(3.0, bounds=bounds, n_nonzero=2).fit(X, y)
        assert [bend.feature for bend in model.bends_] == [0]
        assert set(np.flatnonzero(model.coef_)) == {0, 1}


def test_noise_that_would_drown_bends_leaves_lines():
    """Seed 7. Nine hundred records at epsilon = 0.1 show no shape."""
    X, y = bent_table(n=900)
    model = classifier(0.1, bounds=Bounds(-1, 1), n_nonzero=2).fit(X, y)
    assert model.bends_ == ()


@pytest.mark.parametrize("layout", ["csr", "csc"])
def test_shapes_of_sparse_records_are_those_of_dense_ones(layout):
    X, y = bent_table(n=3000)
    X[X < -0.5] = 0
    dense = classifier(3.0, bounds=Bounds(-1, 1)).fit(X, y)
    stored = classifier(3.0, bounds=Bounds(-1, 1)).fit(sparse.csr_array(X).asformat(layout), y)
    assert len(dense.bends_) == 3
    # Sums are rounded in another order, which may move noise by a step of its grid.
    np.testing.assert_allclose(stored.predict_proba(X), dense.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("task", ["logistic", "multinomial", "squared"])
def test_shapes_of_blocks_are_those_of_records_in_memory(task):
    X, y = bent_table(n=3000, task=task)
    make = regressor if task == "squared" else classifier
    classes = {} if task == "squared" else {"classes": np.unique(y)}
    settings = {"bounds": Bounds(-1, 1)} | classes
    whole = make(3.0, **settings).fit(X, y)
    parts = make(3.0, **settings).fit(RecordBlocks.from_arrays(X, y, rows_per_block=700))
    assert len(whole.bends_) == 3
    for one, other in zip(whole.bends_, parts.bends_, strict=True):
        assert one.feature == other.feature
        np.testing.assert_allclose(other.knots, one.knots, atol=1e-9)
        np.testing.assert_allclose(other.heights, one.heights, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-6, atol=1e-6)


# Which features to keep ---------------------------------------------------------------------------


def distance(metric, weights, kept):
    """Mean square by which margins change at least if only these columns are kept."""
    left = np.setdiff1d(np.arange(len(weights)), kept)
    schur = metric[np.ix_(left, left)]
    if len(kept):
        across = metric[np.ix_(kept, left)]
        schur = schur - across.T @ np.linalg.solve(metric[np.ix_(kept, kept)], across)
    return float(np.sum(weights[left] * (schur @ weights[left])))


def test_the_cheapest_feature_is_left_out_first():
    """Against every other choice, seed 3: costs are exact, and each step is the best one."""
    random = np.random.default_rng(3)
    sizes = np.array([1, 3, 1, 2])
    groups = np.split(np.arange(7), np.cumsum(sizes)[:-1])
    for _ in range(20):
        root = random.normal(size=(7, 9))
        metric, weights = root @ root.T / 9, random.normal(size=(7, 2)) * random.random((7, 1))
        found = Elimination.of(metric, weights, sizes)
        assert sorted(found.order) == [0, 1, 2, 3]
        np.testing.assert_array_equal(found.sizes, sizes[found.order])
        for n_left in range(4, 0, -1):
            before = [np.zeros(0, int), *(groups[j] for j in found.order[:n_left])]
            base = distance(metric, weights, np.sort(np.concatenate(before)))
            costs = {}
            for j in found.order[:n_left]:
                rest = [np.zeros(0, int), *(groups[i] for i in found.order[:n_left] if i != j)]
                costs[j] = distance(metric, weights, np.sort(np.concatenate(rest))) - base
            last = found.order[n_left - 1]
            assert costs[last] == pytest.approx(min(costs.values()), rel=1e-6)
            assert found.costs[n_left - 1] == pytest.approx(costs[last], rel=1e-6)


def test_where_all_directions_are_alike_features_are_left_out_by_their_own_squares():
    random = np.random.default_rng(5)
    sizes = np.array([1, 3, 1, 2])
    for outputs in (1, 3):
        weights = random.normal(size=(7, outputs))
        one, other = (
            Elimination.of(0.3 * np.eye(7), weights, sizes),
            Elimination.alike(0.3, weights, sizes),
        )
        np.testing.assert_array_equal(one.order, other.order)
        np.testing.assert_array_equal(one.sizes, other.sizes)
        np.testing.assert_allclose(one.costs, other.costs)


def test_coordinates_without_eigenvectors_whiten_what_stands_in_for_the_gram_matrix():
    random = np.random.default_rng(6)
    center, each, n = random.uniform(-1, 1, 5), 0.4, 300.0
    alike = np.concatenate([np.zeros((1, 5)), n * each * np.eye(5)])
    block = about_zero(alike, center, n)
    gram = np.full((6, 6), n)
    gram[:, 1:] = block
    gram = np.triu(gram) + np.triu(gram, 1).T
    whitening, back, likely = Alike(center, each, 0.7).coordinates()
    np.testing.assert_allclose(whitening.T @ gram @ whitening / n, np.eye(6), atol=1e-12)
    np.testing.assert_allclose(whitening @ back, np.eye(6), atol=1e-12)
    np.testing.assert_array_equal(likely, [1, *[0.7] * 5])


def test_no_more_features_are_kept_than_asked_for():
    found = Elimination.of(np.eye(40), np.full((40, 1), 2.0), np.ones(40, int))
    for most in (1, 5, 40):
        assert found.kept(1e-9, 1, most) == most
        assert 1 <= found.kept(1e9, 1, most) <= most


def test_a_few_features_bend_among_many_that_cannot():
    """Nobody declares which hold two values: a histogram of each has to tell."""
    X, y = bent_table()
    dummies = np.random.default_rng(6).random((len(X), 90)) < 0.2
    model = classifier(3.0, bounds=Bounds(-1, 1)).fit(np.hstack([X, dummies]), y)
    assert {0, 1} <= {bend.feature for bend in model.bends_} <= {0, 1, 2, 3}


def test_where_noise_is_loud_classes_bend_a_little_and_numbers_do_not():
    few, many = Room(30, 35.0, early=False), Room(30, 35.0, early=True)
    assert (few.of(1), many.of(1)) == (0, 2)
    assert Room(30, 900.0, early=False).of(1) == Room(30, 900.0, early=True).of(1) == 7
    assert Room(100, 1e9, early=True).of(1) == 1  # there are too many columns, whatever the noise
    assert [_n_cells(noise, 4) for noise in (0.0, 0.05, 0.06, 0.14, 0.15)] == [32, 32, 16, 4, 0]
    assert [_n_cells(noise, 32) for noise in (0.05, 0.06)] == [32, 0]

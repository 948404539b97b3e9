"""The generators follow their recipes.

Statistical checks use fixed seeds and limits of at least six standard errors: a false alarm for a
new seed has probability below 1e-6.
"""

import numpy as np
import pytest

from sparsedp.data import Dataset
from sparsedp.data.synthetic import hoseinpour, khanna_screening, sparse_glm, wang_gu, wang_zhang

SETS = {
    "wang_zhang": lambda seed: wang_zhang(2000, 20, seed=seed),
    "wang_gu_linear": lambda seed: wang_gu(300, 200, 5, seed=seed),
    "wang_gu_logistic": lambda seed: wang_gu(300, 200, 5, "logistic", seed=seed),
    "screening_linear": lambda seed: khanna_screening(300, 100, 20, seed=seed),
    "screening_logistic": lambda seed: khanna_screening(300, 100, 20, "logistic", seed=seed),
    "hoseinpour_public": lambda seed: hoseinpour(seed=seed).public,
    "hoseinpour_private": lambda seed: hoseinpour(seed=seed).private,
    "glm_logistic": lambda seed: sparse_glm(300, 30, 4, seed=seed),
    "glm_linear": lambda seed: sparse_glm(300, 30, 4, "linear", seed=seed),
    "glm_multinomial": lambda seed: sparse_glm(300, 30, 4, "multinomial", seed=seed),
}


@pytest.mark.parametrize("name", sorted(SETS))
def test_a_seed_fixes_the_set_and_promises_hold(name):
    data, again, other = SETS[name](1), SETS[name](1), SETS[name](2)
    assert np.array_equal(data.X, again.X)
    assert np.array_equal(data.y, again.y)
    assert not np.array_equal(data.X, other.X)
    lower, upper = data.bounds.arrays(data.X.shape[1])
    assert np.array_equal(data.X, np.clip(data.X, lower, upper))
    if data.bounds.row_norm is not None:
        norms = np.linalg.norm(data.X, axis=1)
        assert norms.max() <= data.bounds.row_norm * (1 + 1e-12)
    if data.y.dtype.kind == "f":
        low, high = data.target_bounds or (data.y.min(), data.y.max())
        assert low <= data.y.min()
        assert data.y.max() <= high
        Dataset.clip(data.X, data.y, data.bounds, target_bounds=(low, high))
    else:
        Dataset.clip(data.X, data.y, data.bounds, classes=range(int(data.y.max()) + 1))


def test_wang_zhang_recipe():
    n, d = 20_000, 12
    data = wang_zhang(n, d, seed=3)
    assert (np.abs(data.X).max(axis=0) == 1).all()
    assert data.weights.tolist() == [10, 9, 8, 7, 6, 5, 4, 0.5, 0, 0, 0, 0]
    assert np.array_equal(data.y, data.X @ data.weights > 0)
    expected = 0.5 ** np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
    # Seed 3; a sample correlation has standard error at most 1/sqrt(n): 7 of them, 66 pairs.
    np.testing.assert_allclose(np.corrcoef(data.X.T), expected, atol=7 / np.sqrt(n))
    assert wang_zhang(seed=0).X.shape == (10_000, 100)


def test_wang_gu_recipe():
    data = wang_gu(seed=4)
    assert data.X.shape == (1000, 1000)
    assert np.count_nonzero(data.weights) == 10
    assert np.abs(data.weights).max() < 1
    assert data.bounds.row_norm == 20
    noise = data.y - data.X @ data.weights
    # Seed 4; variance of 1000 normal draws has standard error 0.1 * sqrt(2 / 1000): 6 of them.
    assert abs(noise.var() - 0.1) < 6 * 0.1 * np.sqrt(2 / 1000)


def test_wang_gu_labels_have_the_sign_of_a_fitted_model():
    data = wang_gu(5000, 50, 20, "logistic", seed=5)
    score = data.X @ data.weights
    probability = 1 / (1 + np.exp(-score))
    excess = score @ (data.y - probability)
    # Seed 5; E[excess] = 0 under the model's sign, with this variance: 6 standard errors.
    assert abs(excess) < 6 * np.sqrt((score**2 * probability * (1 - probability)).sum())
    assert np.corrcoef(score, data.y)[0, 1] > 0.3


def test_screening_recipe():
    data = khanna_screening(seed=6)
    assert data.X.shape == (3000, 600)
    assert np.abs(data.X).max() == 1
    assert (data.weights == 1).sum() == (data.weights == -1).sum() == 35
    np.testing.assert_allclose(data.y, data.X @ data.weights)
    labels = khanna_screening(task="logistic", seed=6)
    assert np.array_equal(labels.y, labels.X @ labels.weights > 0)


def test_hoseinpour_shape_and_accuracy():
    sets = hoseinpour(seed=7)
    assert sets.public.X.shape == sets.private.X.shape == (400, 2)
    assert not np.array_equal(sets.public.X, sets.private.X)
    large = hoseinpour(50_000, 2, seed=7).private
    accuracy = ((large.X @ large.weights > 0) == large.y).mean()
    # Seed 7; the best accuracy is 0.7805, standard error 0.0019: 6 of them and the rounding.
    assert abs(accuracy - 0.7805) < 6 * 0.0019 + 0.001


def test_sparse_glm_recipe():
    for task, shape in (("linear", (40,)), ("logistic", (40,)), ("multinomial", (40, 3))):
        data = sparse_glm(200, 40, 5, task, seed=8)
        assert data.weights.shape == shape
        assert (np.count_nonzero(data.weights, axis=0) == 5).all()
        assert set(np.abs(data.weights).ravel()) == {0.0, 3.0}
    assert set(sparse_glm(500, 10, 2, "multinomial", seed=8, n_classes=4).y) == {0, 1, 2, 3}


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="task must be one of"):
        wang_gu(task="ranking", seed=0)
    with pytest.raises(ValueError, match="between 1 and d=3"):
        sparse_glm(5, 3, 4, seed=0)
    with pytest.raises(ValueError, match="at least 8"):
        wang_zhang(10, 5, seed=0)

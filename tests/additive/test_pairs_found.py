"""Pairs that the default finds, in any storage. Seeds are fixed: nothing here fails by chance."""

import numpy as np
import pytest
from scipy import sparse

from sparsedp import Bounds, RecordBlocks, SparsePoissonRegressor
from tests.additive.test_pairs import agree, by_hand
from tests.cases import LOSSES
from tests.solvers.test_pursuit import classifier, regressor


def paired_table(task="logistic", n=6000, seed=11):
    """Features 0 and 1 matter together most of all, feature 3 does not."""
    random = np.random.default_rng(seed)
    X = random.uniform(-1, 1, size=(n, 4))
    score = X[:, 0] + 4 * X[:, 0] * X[:, 1] - X[:, 2]
    if task == "squared":
        return X, score + random.normal(size=n)
    if task == "poisson":
        return X, random.poisson(np.exp(0.4 * score))
    if task == "multinomial":
        return X, np.argmax(random.gumbel(size=(n, 3)) + np.outer(score, [1, 0, -1]), axis=1)
    return X, (random.random(n) < 1 / (1 + np.exp(-score))).astype(int)


def by_default(task, records, epsilon=3.0, **settings):
    common = {"bounds": Bounds(-1, 1), "n_nonzero": 4} | settings
    if task == "poisson":
        common |= {"delta": 1e-5, "max_count": LOSSES["poisson"].limit, "random_state": 7}
        return SparsePoissonRegressor(epsilon=epsilon, **common).fit(*records)
    if task == "squared":
        return regressor(epsilon, **common).fit(*records)
    classes = range(3) if task == "multinomial" else (0, 1)
    return classifier(epsilon, classes=classes, **common).fit(*records)


@pytest.mark.parametrize("epsilon", [3.0, np.inf])
@pytest.mark.parametrize(
    ("task", "gain"), [("logistic", 0.08), ("multinomial", 0.1), ("squared", 0.4)]
)
def test_the_default_finds_a_pair_that_matters(task, gain, epsilon):
    """Scores of other records; the gain that is asked for is less than that of any seed of 20."""
    records, others = paired_table(task), paired_table(task, seed=12)
    model = by_default(task, records, epsilon)
    strongest = max(model.interactions_, key=lambda pair: np.abs(pair.weights).max())
    assert strongest.features == (0, 1)
    assert strongest.weights[0] > 2
    additive = by_default(task, records, epsilon, shapes="additive")
    assert additive.interactions_ == ()
    assert model.score(*others) > additive.score(*others) + gain
    assert model.privacy_.events == additive.privacy_.events


@pytest.mark.parametrize("task", ["logistic", "multinomial", "squared", "poisson"])
def test_any_storage_has_the_same_pairs(task):
    X, y = paired_table(task, n=3000)
    X[X < -0.7] = 0
    whole_table = by_default(task, (X, y), 20.0)
    assert (0, 1) in [pair.features for pair in whole_table.interactions_]
    agree(whole_table, X, task)
    blocks = RecordBlocks.from_arrays(X, y, rows_per_block=700)
    for records in ((sparse.csr_array(X), y), (sparse.csc_array(X), y), (blocks,)):
        other = by_default(task, records, 20.0)
        for one, same in zip(whole_table.interactions_, other.interactions_, strict=True):
            assert one.features == same.features
            # Sums are rounded in another order, which may move noise by a step of its grid.
            np.testing.assert_allclose(same.weights, one.weights, rtol=1e-5, atol=1e-6)


def test_a_pair_of_counts_goes_with_the_exposure():
    X, y = paired_table("poisson")
    offset = np.log(np.linspace(1, 2, len(X)))
    how = {"bounds": 1.0, "offset_bounds": (0, np.log(2)), "max_count": 12, "random_state": 7}
    model = SparsePoissonRegressor(epsilon=20.0, delta=1e-5, **how).fit(X, y, offset=offset)
    assert model.interactions_
    expected = np.minimum(np.exp(by_hand(model, X)[:, 0] + offset), 12)
    np.testing.assert_allclose(model.predict(X, offset=offset), expected, rtol=1e-9)


def test_few_records_have_none():
    X, y = paired_table(n=100)
    assert by_default("logistic", (X, y), 20.0).interactions_ == ()

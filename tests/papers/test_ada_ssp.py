"""AdaSSP and its boosting: least squares without noise, sensitivities that are attained."""

import numpy as np
import pytest
from scipy.linalg import hadamard

from sparsedp import Bounds, SparseLinearRegression, SparseLogisticRegression
from sparsedp.audit.replay import largest_movements
from sparsedp.data.dataset import Dataset
from sparsedp.solvers import AdaSSP, BoostedAdaSSP
from sparsedp.solvers.dense.statistics import GramOf, gram_sensitivity
from sparsedp.solvers.l2_view import l2_view
from tests.papers.test_best_subset import replayed


def numbers(n, seed):
    random = np.random.default_rng(seed)
    X = random.uniform([-2, 0, 3], [2, 5, 4], size=(n, 3))
    return X, X @ [0.5, -0.2, 0.7] + 0.1 * random.normal(size=n)


BOUNDS = Bounds(lower=[-2, 0, 3], upper=[2, 5, 4])


@pytest.mark.parametrize("row_norm", [None, 7.0])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("solver", [AdaSSP(), BoostedAdaSSP(n_rounds=3, clip=10.0)])
def test_without_noise_it_is_least_squares(solver, intercept, row_norm):
    X, y = numbers(200, 1)
    bounds = Bounds(lower=[-2, 0, 3 if row_norm is None else 0], upper=[2, 5, 4], row_norm=row_norm)
    model = SparseLinearRegression(
        epsilon=float("inf"),
        delta=1e-6,
        bounds=bounds,
        target_bounds=(-6, 6),
        solver=solver,
        fit_intercept=intercept,
    ).fit(X, y)
    design = np.column_stack([X, np.ones(200)]) if intercept else X
    expected = np.linalg.lstsq(design, y, rcond=None)[0]
    np.testing.assert_allclose(model.coef_, expected[:3], rtol=1e-7)


@pytest.mark.parametrize("solver", ["ada_ssp", "boosted_ada_ssp"])
def test_much_data_at_a_usual_budget_is_nearly_least_squares(solver):
    """Seed 2; the noise of a weight is about 0.01 here."""
    X, y = numbers(20_000, 2)
    model = SparseLinearRegression(
        epsilon=1, delta=1e-6, bounds=BOUNDS, target_bounds=(-1, 5), solver=solver, random_state=2
    ).fit(X, y)
    np.testing.assert_allclose(model.coef_, [0.5, -0.2, 0.7], atol=0.1)
    random = np.random.default_rng(3)
    p = np.clip(0.5 + X @ [0.15, 0.02, 0.0], 0, 1)
    labels = (random.random(20_000) < p).astype(int)
    classifier = SparseLogisticRegression(
        epsilon=1, delta=1e-6, bounds=BOUNDS, classes=[0, 1], solver=solver, random_state=2
    ).fit(X, labels)
    found = classifier.predict_proba(X)[:, 1]
    assert np.abs(found - p).mean() < 0.05  # right about one half, timid far from it


def two_tables(one, other, **how):
    """Gram matrices of single records."""
    return [
        l2_view(Dataset.clip(np.array([x]), [0.0], target_bounds=(-1, 1), **how))
        for x in (one, other)
    ]


def moved(views):
    first, second = (view.total(GramOf()) for view in views)
    return float(np.linalg.norm(np.triu(first - second)))


def test_sensitivities_of_the_gram_matrix_are_attained():
    signs = hadamard(4).astype(float)
    box = two_tables(signs[0], signs[1], bounds=Bounds(lower=-1, upper=1), intercept=False)
    declared = gram_sensitivity(box[0])
    assert moved(box) == pytest.approx(declared.replace_one) == 4
    assert np.linalg.norm(np.triu(box[0].total(GramOf()))) == pytest.approx(declared.add_remove)
    apart = two_tables(
        [3, 0], [0, 3], bounds=Bounds(lower=-9, upper=9, row_norm=3), intercept=False
    )
    declared = gram_sensitivity(apart[0])
    assert moved(apart) == pytest.approx(declared.replace_one) == pytest.approx(9 * np.sqrt(2))
    assert np.linalg.norm(np.triu(apart[0].total(GramOf()))) == pytest.approx(declared.add_remove)


def test_no_pair_of_records_moves_the_gram_matrix_by_more():
    """Random rows on the sphere, with and without a constant; seed 4."""
    random = np.random.default_rng(4)
    for radius in (0.3, 0.9, 2.0):
        for intercept in (True, False):
            most = 0.0
            for _ in range(60):
                rows = random.normal(size=(2, 2))
                rows *= radius / np.linalg.norm(rows, axis=1, keepdims=True)
                bounds = Bounds(lower=-3, upper=3, row_norm=radius)
                views = two_tables(*rows, bounds=bounds, intercept=intercept)
                most = max(most, moved(views) / gram_sensitivity(views[0]).replace_one)
            assert 0.85 < most <= 1 + 1e-9


@pytest.mark.parametrize("solver", ["ada_ssp", "boosted_ada_ssp"])
def test_impossible_settings_are_refused_before_the_charge(solver):
    X, y = np.zeros((3, 2001)), np.zeros(3)
    how = {"epsilon": 1, "delta": 1e-6, "target_bounds": (-1, 1), "solver": solver}
    with pytest.raises(ValueError, match="products of all pairs"):
        SparseLinearRegression(bounds=1.0, **how).fit(X, y)
    with pytest.raises(ValueError, match="Coded"):
        SparseLinearRegression(bounds=1.0, loss="huber", **how).fit(X[:, :2], y)
    with pytest.raises(ValueError, match="n_rounds"):
        BoostedAdaSSP(n_rounds=0)


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_the_least_eigenvalue_moves_as_far_as_declared(neighbors):
    """Of one column it is the sum of its squares, to which a record adds up to 1."""
    y = np.zeros(50)
    fewer = np.full((50, 1), 0.5), y
    more = np.vstack([fewer[0], [[1.0]]]), np.append(y, 0.0)
    less = np.vstack([fewer[0], [[0.0]]]), np.append(y, 0.0)
    one = fewer if neighbors == "add_remove" else less
    queries, again = replayed(AdaSSP(), one, more, neighbors)
    first = [i for i, query in enumerate(queries) if query.kind == "perturb"][:1]
    moved = largest_movements([queries[i] for i in first], [again[i] for i in first], neighbors)
    assert moved["perturb"] == pytest.approx(1.0)

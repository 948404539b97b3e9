"""Best subset selection: exact scores, a range that is attained, proposals from releases alone."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from sparsedp import Bounds, SparseLinearRegression
from sparsedp.audit.replay import largest_movements
from sparsedp.data.dataset import Dataset
from sparsedp.losses import Squared
from sparsedp.mechanisms import recording
from sparsedp.mechanisms.scripted import Scripted, ScriptedCurator
from sparsedp.privacy import PublicFacts
from sparsedp.solvers import AdaSSP, BestSubset
from sparsedp.solvers.wrappers.supports import (
    Statistics,
    every_support,
    proposed_supports,
    squares_explained,
)
from tests.solved import recorded


@pytest.mark.parametrize("radius", [0.05, 0.5, 50.0])
def test_scores_are_the_optimum_over_the_ball(radius):
    random = np.random.default_rng(1)
    Z, y = random.uniform(-1, 1, size=(40, 4)), random.uniform(-1, 1, size=(40, 1))
    Z[:, 3] = Z[:, 2]  # singular, as indicators are
    y[:, 0] += Z[:, 0]
    supports = every_support(4, 3)
    assert len(supports) == math.comb(4, 3)
    found = squares_explained(Statistics(Z.T @ Z, Z.T @ y, 4), supports, radius)
    for support, value in zip(supports, found, strict=True):
        A, b = Z[:, support].T @ Z[:, support] + np.eye(3), (Z[:, support].T @ y)[:, 0]
        inside = {"type": "ineq", "fun": lambda w: radius**2 - w @ w}
        plain = minimize(
            lambda w, A=A, b=b: w @ A @ w - 2 * b @ w,
            np.full(3, 0.01),
            constraints=[inside],
            options={"ftol": 1e-13, "maxiter": 500},
        )
        assert value == pytest.approx(-plain.fun, rel=1e-6)


def replayed(solver, one, other, neighbors):
    """Queries of a fit, and those of its replay on another table."""
    data = [
        Dataset.clip(X, y, Bounds(lower=-1, upper=1), target_bounds=(-1, 1), intercept=False)
        for X, y in (one, other)
    ]
    public = PublicFacts(
        n_features=one[0].shape[1],
        n_nonzero=1,
        intercept=False,
        neighbors=neighbors,
        n_records=data[0].n_records if neighbors == "replace_one" else None,
        loss=Squared(),
    )
    _, queries, _ = recorded(solver, data[0], Squared(), public, epsilon=1e3, seed=1)
    script = Scripted([query.answer for query in queries])
    curator, again = recording.recorded(ScriptedCurator(public, script))
    solver.solve(data[1], Squared(), curator)
    return queries, again


@pytest.mark.parametrize("height", [1.0, 0.5])
@pytest.mark.parametrize("solver", [BestSubset(AdaSSP()), BestSubset(AdaSSP(), n_supports=2)])
def test_ranges_are_attained_and_never_exceeded(solver, height):
    """Half as high, features would need weights of 2, which the reach does not allow."""
    y = np.where(np.arange(500) % 2, 1.0, -1.0)
    table = np.column_stack([height * y, height * y, np.zeros(500)]), y
    # All predict it, the first as wrongly as can be and the second rightly.
    more = np.vstack([table[0], [1, -1, 0]]), np.append(y, -1.0)
    less = np.vstack([table[0], [-1, 1, 0]]), np.append(y, -1.0)
    for one, other, neighbors in ((table, more, "add_remove"), (more, less, "replace_one")):
        moved = largest_movements(*replayed(solver, one, other, neighbors), neighbors)
        assert 0.95 < moved["select"] <= 1


def test_features_that_count_only_together_are_found():
    """Seed 2: each of the first two is nearly unrelated to the target, their difference is it."""
    random = np.random.default_rng(2)
    common, apart = random.uniform(-0.8, 0.8, size=(2, 20_000))
    X = random.uniform(-1, 1, size=(20_000, 10))
    X[:, 0], X[:, 1] = common, common + 0.2 * apart
    how = {"epsilon": 1, "delta": 1e-6, "bounds": 1.0, "target_bounds": (-0.5, 0.5)}
    for solver in (BestSubset(reach=2.0), BestSubset(reach=2.0, n_supports=20)):
        model = SparseLinearRegression(n_nonzero=2, solver=solver, random_state=1, **how)
        model.fit(X, 0.2 * apart + 0.02 * random.normal(size=20_000))
        assert set(np.flatnonzero(model.coef_)) == {0, 1}
        assert "sets" in model.privacy_.notes[0]


def test_a_search_finds_the_best_sets_where_sums_are_exact():
    random = np.random.default_rng(3)
    Z = random.normal(size=(300, 12)) + random.normal(size=(300, 1))
    y = Z[:, [1, 4, 9]] @ np.array([[1.0], [-1], [0.5]]) + random.normal(size=(300, 1))
    sums = Statistics(Z.T @ Z, Z.T @ y, 12)
    found = proposed_supports(sums, 1.0, 3, 10)
    every = every_support(12, 3)
    best = every[np.argsort(-squares_explained(sums, every, 1e3))[:5]]
    assert {tuple(s) for s in best} <= {tuple(s) for s in found}
    assert len(found) == 10
    assert len(proposed_supports(sums, 1.0, 11, 1000)) == 12


def test_what_is_impossible_is_refused_before_the_charge():
    for wrong in ({"n_keep": 0}, {"n_supports": 10**7}, {"share": 0.0}, {"reach": 0.0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            BestSubset(**wrong)
    how = {"epsilon": 1, "delta": 1e-6, "bounds": 1.0, "target_bounds": (-1, 1)}
    with pytest.raises(ValueError, match="Coded"):
        SparseLinearRegression(solver="best_subset", loss="huber", **how).fit(np.eye(3), np.ones(3))


def test_with_nothing_to_choose_nothing_is_paid_for_the_choice():
    public = PublicFacts(n_features=4, n_nonzero=4)
    assert BestSubset(AdaSSP()).schedule(public) == AdaSSP().schedule(public)

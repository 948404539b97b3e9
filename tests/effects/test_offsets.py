"""Offsets: known parts of margins, within public limits, for solvers that are proven for them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

from sparsedp import (
    Schema,
    SparseLogisticRegression,
    SparsePoissonRegressor,
)
from sparsedp.audit.replay import largest_movements
from sparsedp.data.dataset import Dataset
from sparsedp.release import PublishedModel
from sparsedp.solvers import FrankWolfe, NoisyGD
from tests.cases import BOUNDS, LOSSES, SOLVERS, declared, random_table
from tests.privacy.test_every_solver import recorded_fit, replayed_fit
from tests.whole import whole

LIMITS = (-1.0, 4.0)
PROVEN = ["pursuit", "noisy_gd", "noisy_gd_clip", "frank_wolfe", "frank_wolfe_unclipped"]


def dataset(loss, X, y, offset):
    """Through the gate, with offsets all over their limits and beyond."""
    told = {"offset": offset, "offset_bounds": LIMITS}
    return Dataset.clip(X, y, BOUNDS, **declared(loss), **told)


def table(loss, n, seed):
    made = random_table(loss, n, seed)
    return made.X, made.y, np.random.default_rng(seed).normal(1.5, 3, size=n)


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("loss", ["logistic", "poisson"])
@pytest.mark.parametrize("name", PROVEN)
def test_sensitivity_and_non_interference_hold_with_offsets(name, loss, neighbors):
    """Neighbors differ in a record of extreme features, target and offset."""
    solver = SOLVERS[name]
    X, y, offset = table(loss, 25, 1)
    low, high = (0, 1) if LOSSES[loss].n_classes else (-9.0, 9.0)
    far = 99.0 * np.ones(X.shape[1])
    records = [(x, t, o) for x in (far, -far) for t in (low, high) for o in (-99.0, 99.0)]
    more = [
        dataset(loss, np.vstack([X, x]), np.append(y, t), np.append(offset, o))
        for x, t, o in records
    ]
    base = dataset(loss, X, y, offset) if neighbors == "add_remove" else more[0]
    solution, queries = recorded_fit(solver, base, loss, neighbors, seed=3, epsilon=5.0)
    worst = 0.0
    for other in more:
        again, moved = replayed_fit(solver, other, loss, neighbors, queries)
        assert whole(again) == whole(solution)
        worst = max(worst, *largest_movements(queries, moved, neighbors).values())
    assert 0.3 < worst <= 1 + 1e-9
    sizes = (25, 25) if neighbors == "replace_one" else (0, 1, 60)
    for seed, n in enumerate(sizes, 5):
        n += neighbors == "replace_one"
        other = dataset(loss, *table(loss, n, seed))
        again, _ = replayed_fit(solver, other, loss, neighbors, queries)
        assert whole(again) == whole(solution)


def counts(n, seed=0):
    random = np.random.default_rng(seed)
    X = random.uniform(-1, 1, size=(n, 3))
    offset = random.uniform(0, 3, size=n)
    return X, random.poisson(np.exp(0.8 * X[:, 0] - 1.5 + offset)), offset


def regressor(**settings):
    common = {"epsilon": float("inf"), "delta": 1e-6, "bounds": 1.0, "n_nonzero": 3}
    common |= {"max_count": 40, "offset_bounds": (0, 3), "random_state": 0}
    return SparsePoissonRegressor(**(common | settings))


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_without_noise_it_is_maximum_likelihood(fit_intercept):
    X, y, offset = counts(3000)
    model = regressor(fit_intercept=fit_intercept, shapes="linear").fit(X, y, offset=offset)

    def deviance(w):
        margins = X @ w[:3] + w[3] * fit_intercept + offset
        return np.mean(np.exp(margins) - y * margins)

    best = minimize(deviance, np.zeros(4), tol=1e-12).x
    np.testing.assert_allclose(model.coef_, best[:3], atol=1e-4)
    np.testing.assert_allclose(model.intercept_, best[3] * fit_intercept, atol=1e-4)
    rates = np.exp(X @ model.coef_ + model.intercept_)
    np.testing.assert_allclose(model.predict(X), rates)
    expected = np.minimum(np.exp(offset) * rates, 40)
    np.testing.assert_allclose(model.predict(X, offset=offset), expected)


@pytest.mark.parametrize("solver", ["pursuit", NoisyGD(), FrankWolfe(radius=4, n_steps=60)])
def test_private_fits_take_the_offset_out(solver):
    """Exposures differ by e^3: a fit that ignored them would have another intercept."""
    X, y, offset = counts(40_000)
    model = regressor(epsilon=3.0, solver=solver, n_nonzero=1).fit(X, y, offset=offset)
    assert abs(model.intercept_ + 1.5) < 0.5
    assert 0.4 < model.coef_[0] < 1.2
    record = model.privacy_.to_dict()
    assert record["model"]["offset_bounds"] == [0, 3]


@pytest.mark.parametrize("solver", ["pursuit", FrankWolfe(radius=3, n_steps=100)], ids=str)
def test_two_classes_take_offsets_too(solver):
    """A fit that ignored the offset, as walks of the kernel do, would find 3 for the second one."""
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, size=(20_000, 2))
    offset = 3 * X[:, 1]
    y = random.random(20_000) < 1 / (1 + np.exp(-(2 * X[:, 0] + offset - 1)))
    model = SparseLogisticRegression(
        epsilon=3, delta=1e-6, bounds=1.0, classes=(0, 1), offset_bounds=(-3, 3), random_state=0
    )
    model.set_params(solver=solver).fit(X, y, offset=offset)
    np.testing.assert_allclose(model.coef_[0], [2, 0], atol=0.3)
    assert model.intercept_[0] == pytest.approx(-1, abs=0.3)
    margins = model.decision_function(X[:5]) + np.array([-3, 3, 0, 1, -3.0])
    given = [-9, 9, 0, 1, -3]
    np.testing.assert_allclose(model.decision_function(X[:5], offset=given), margins)
    published = PublishedModel.from_estimator(model)
    assert (published.decision_function(X[:5], offset=given) == margins).all()
    np.testing.assert_array_equal(
        published.predict_proba(X[:5], offset=given), model.predict_proba(X[:5], offset=given)
    )


def test_a_schema_names_the_column():
    X, y, offset = counts(2000)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(seen=y, exposure=offset)
    schema = Schema.from_toml("""
        [bounds]
        lower = -1
        upper = 1
        [features.a]
        [features.b]
        [features.c]
        [target]
        column = "seen"
        max_count = 40
        [offset]
        column = "exposure"
        lower = 0
        upper = 3
        """)
    settings = {"epsilon": float("inf"), "delta": 1e-6, "n_nonzero": 3}
    model = SparsePoissonRegressor(schema=schema, **settings).fit(frame)
    plain = regressor().fit(X, y, offset=offset)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_array_equal(model.predict(frame), plain.predict(X, offset=offset))
    published = PublishedModel.from_estimator(model)
    np.testing.assert_array_equal(published.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="none besides"):
        published.predict(frame, offset=offset)
    with pytest.raises(ValueError, match="leave one out"):
        model.predict(frame, offset=offset)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"offset_bounds": None}, "needs public limits"),
        ({"offset_bounds": (1, 0)}, "lower one below"),
        ({"offset_bounds": (0, 1000)}, "between -100 and 100"),
        ({"offset_bounds": (0, np.nan)}, "lower one below"),
        ({"solver": "greedy_coordinate"}, "'pursuit', 'noisy_gd' and 'frank_wolfe'"),
        ({"solver": "screened"}, "'pursuit', 'noisy_gd' and 'frank_wolfe'"),
        ({"solver": NoisyGD(calibration="published")}, "calibration='sound'"),
    ],
)
def test_what_is_not_proven_or_not_declared_is_refused(changes, message):
    X, y, offset = counts(50)
    with pytest.raises(ValueError, match=message):
        regressor(epsilon=1.0, **changes).fit(X, y, offset=offset)


def test_an_offset_needs_a_link():
    X, y, offset = counts(50)
    many = SparseLogisticRegression(
        epsilon=1, delta=1e-6, bounds=1.0, classes=(0, 1, 2), offset_bounds=(0, 3)
    )
    with pytest.raises(ValueError, match="two classes"):
        many.fit(X, np.minimum(y, 2), offset=offset)
    with pytest.raises(ValueError, match="without an offset"):
        regressor().fit(X, y).predict(X, offset=offset)
    with pytest.raises(ValueError, match="one per row"):
        regressor().fit(X, y, offset=offset[1:])
    with pytest.raises(ValueError, match="one per row"):
        regressor().fit(X, y, offset=offset).predict(X, offset=offset[1:])


@pytest.mark.parametrize("cell", [None, float("nan"), "secret", "1e400", 10**400, float("-inf")])
def test_a_malformed_offset_changes_no_other_and_is_not_quoted(cell):
    X, y, offset = counts(20)
    told = {"target_bounds": (0, 40), "offset_bounds": (1, 3)}
    good = Dataset.clip(X, y, 1.0, offset=offset.tolist(), **told)
    cells = [*offset[:-1].tolist(), cell]
    bad = Dataset.clip(X, y, 1.0, offset=cells, invalid="replace", **told)
    assert bad.offset is not None
    assert good.offset is not None
    assert bad.offset[:-1].tobytes() == good.offset[:-1].tobytes()
    assert abs(bad.offset[-1]) <= bad.offset_limit == 1
    with pytest.raises(ValueError, match="offset") as error:
        Dataset.clip(X, y, 1.0, offset=cells, **told)
    assert "secret" not in str(error.value)


def test_rows_and_views_keep_their_offsets():
    X, y, offset = counts(20)
    data = Dataset.clip(X, y, 1.0, offset=offset, target_bounds=(0, 40), offset_bounds=(0, 3))
    w = np.ones(4)
    kept = np.arange(20) % 3 == 0
    whole_margins = data.margins(w)
    np.testing.assert_allclose(whole_margins, X.sum(axis=1) + 1 + offset - 1.5)
    np.testing.assert_array_equal(data.rows(kept).margins(w), whole_margins[kept])
    np.testing.assert_array_equal(data.features([0, 1]).offset, data.offset)
    np.testing.assert_array_equal(data.declared_units().offset, data.offset)
    assert replace(data, offset=None).margins(w)[0] == data.matvec(w)[0]

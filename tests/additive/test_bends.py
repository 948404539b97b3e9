"""Bends: what they are, how they come into declared units, and that predictions have them."""

import numpy as np
import pytest
from scipy import sparse

from sparsedp import Ledger, PrivateSearchCV, SparseLogisticRegression
from sparsedp.data.bend import Bend, BendTable
from sparsedp.data.predict import linear_predictor
from sparsedp.estimators.records import Given
from sparsedp.fit.coefficients import Coefficients
from sparsedp.fit.search.trial import Trial
from sparsedp.fit.settings import Settings
from sparsedp.fit.solve import exact_solution
from sparsedp.solvers import NoisyGD, Pursuit, Screened
from tests.bent import INNER, KNOTS, Bent, bend
from tests.cases import BOUNDS, LOSSES, estimator, random_table

ZERO = np.zeros((3, 1))


def fitted(loss="logistic", n=400, layout="dense", **settings):
    """A model with bends, without noise unless epsilon says otherwise."""
    table = random_table(loss, n, seed=1)
    how = {"epsilon": np.inf, "delta": 1e-3, "bounds": BOUNDS, "n_nonzero": 3}
    model = estimator(loss, **how | {"solver": Bent(tight=True)} | settings)
    return model.fit(table.features(layout), table.y), table


@pytest.mark.parametrize(
    ("knots", "heights"),
    [
        ([0, 1], ZERO[:2]),
        ([0, 1, 1], ZERO),
        ([0, 2, 1], ZERO),
        ([0, np.nan, 1], ZERO),
        ([0, 1, np.inf], ZERO),
        ([0, 1, 2], [[0], [0], [1]]),
        ([0, 1, 2], [[1], [0], [0]]),
        ([0, 1, 2], [[0], [np.nan], [0]]),
        ([0, 1, 2], np.zeros(3)),
        ([0, 1, 2], np.zeros((3, 0))),
        ([0, 1, 2], np.zeros((4, 1))),
    ],
)
def test_what_is_no_bend_is_refused(knots, heights):
    with pytest.raises(ValueError, match="bend"):
        Bend(0, np.array(knots, dtype=float), np.array(heights, dtype=float))


def test_bends_of_several_models_are_those_of_each():
    """Also in other units, where rounding moves knots together, or all of them."""
    random = np.random.default_rng(3)
    knots = np.array([-1, -1e-17, 0.0, 0.5, 1]), np.array([-1, 0.5, 1]), np.array([-1, 0.1, 1])
    heights = tuple(
        np.pad(random.normal(size=(4, len(k) - 2, 2)), ((0, 0), (1, 1), (0, 0))) for k in knots
    )
    heights[1][2] = 0  # this model has none there
    table = BendTable((0, 2, 5), knots, heights)
    center, half_width = np.full(6, 1.0), np.array([2.0, 1, 1, 1, 1, 1e-17])
    ends = center - half_width, center + half_width
    changed = table.moved(center, half_width, ends).scaled(3.0)
    assert len(table) == len(changed) == 4
    for model, (before, after) in enumerate(zip(table, changed, strict=True)):
        assert [one.feature for one in before] == ([0, 5] if model == 2 else [0, 2, 5])
        limits = [(float(ends[0][one.feature]), float(ends[1][one.feature])) for one in before]
        each = [
            one.moved(1.0, float(half_width[one.feature]), limit)
            for one, limit in zip(before, limits, strict=True)
        ]
        alone = [one.scaled(3.0) for one in each if one is not None]
        assert [one.feature for one in after] == [one.feature for one in alone]
        assert 5 not in [one.feature for one in after]
        for one, other in zip(after, alone, strict=True):
            np.testing.assert_array_equal(one.knots, other.knots)
            np.testing.assert_array_equal(one.heights, other.heights)


def test_a_bend_is_linear_between_its_knots_and_zero_beyond():
    one = Bend(0, np.array([1.0, 2.0, 4.0]), np.array([[0, 0], [3, -1], [0, 0.0]]))
    found = one.at([0.0, 1.0, 1.5, 2.0, 3.0, 4.0, 9.0])
    np.testing.assert_array_equal(found[:, 0], [0, 0, 1.5, 3, 1.5, 0, 0])
    np.testing.assert_array_equal(found[:, 1], [0, 0, -0.5, -1, -0.5, 0, 0])
    assert np.isnan(one.at([np.nan])).all()
    random = np.random.default_rng(0)
    many = bend(0, random.normal(size=(3, 2)))
    values = random.uniform(-1, 1, size=500)
    for output in range(2):
        expected = np.interp(values, KNOTS, many.heights[:, output])
        np.testing.assert_allclose(many.at(values)[:, output], expected, atol=1e-14)


def test_units_change_without_the_function():
    random = np.random.default_rng(1)
    one = bend(2, random.normal(size=(3, 1)))
    moved = one.moved(5.0, 3.0, (2.0, 8.0))
    values = random.uniform(-1, 1, size=50)
    np.testing.assert_allclose(moved.at(5 + 3 * values), one.at(values), atol=1e-13)
    np.testing.assert_array_equal(one.scaled(-2.0).heights, -2 * one.heights)
    for low, width in random.random((50, 2)):
        half = ((low + width) - low) / 2
        knots = one.moved(low + half, half, (low, low + width)).knots
        assert (knots[0], knots[-1]) == (low, low + width)
    # Where doubles are too far apart for all knots, those that stay apart are left, or nothing.
    far, apart = 1.5 * 2.0**40, 2.0**-12
    assert len(one.moved(far, apart, (far - apart, far + apart)).knots) == 3
    assert one.moved(far, apart / 4, (far, far + apart)) is None


def test_predictions_depend_on_their_record_alone():
    """To the last bit, whatever other records there are and wherever blocks of them end."""
    random = np.random.default_rng(2)
    X = random.normal(size=(300, 6))
    bends = tuple(bend(j, random.normal(size=(3, 2))) for j in (1, 4))
    coef, intercept = random.normal(size=(2, 6)), random.normal(size=2)
    coef[:, [0, 4]] = 0  # a bend without a chord is read as well
    how = coef, intercept, np.full(6, -1.0), np.full(6, 1.0), None, bends
    together = linear_predictor(X, *how)
    for rows in (slice(0, 1), slice(7, 9), slice(100, 300)):
        assert linear_predictor(X[rows], *how).tobytes() == together[rows].tobytes()
    assert linear_predictor(sparse.csr_array(X), *how).tobytes() == together.tobytes()
    inside = np.clip(X, -1, 1)
    expected = inside @ coef.T + intercept
    for one in bends:
        expected = expected + one.at(inside[:, one.feature])
    np.testing.assert_allclose(together, expected, atol=1e-12)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_fitted_model_predicts_what_its_solution_says(loss, layout):
    model, table = fitted(loss, layout=layout)
    assert len(model.bends_) == 3
    # In unit coordinates, as the solver had it.
    X = np.clip(table.X, *model.clip_bounds_)
    lower, upper = model.clip_bounds_
    for one in model.bends_:
        assert (one.knots[0], one.knots[-1]) == (lower[one.feature], upper[one.feature])
        unit = (one.knots - (lower + upper)[one.feature] / 2) / (upper - lower)[one.feature] * 2
        np.testing.assert_allclose(unit[1:-1], INNER, atol=1e-12)
    margins = X @ np.atleast_2d(model.coef_).T + model.intercept_
    for one in model.bends_:
        margins += one.at(X[:, one.feature])
    if loss == "poisson":
        margins = np.exp(np.minimum(margins, np.log(LOSSES[loss].limit)))
    given = model.predict(table.X) if table.y.dtype == float else model.decision_function(table.X)
    np.testing.assert_allclose(np.reshape(given, margins.shape), margins, atol=1e-10)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_path_ends_at_the_model_and_has_its_bends(loss):
    model, table = fitted(loss)
    path = model.path_
    assert [len(bends) for bends in path.bends] == [1, 2, 3]
    last = path.model(3)
    np.testing.assert_allclose(
        last.predict(table.X), model.predict(table.X), rtol=1e-12, atol=1e-12
    )
    assert {one.feature for one in path.model(1).bends_} == {int(path.order[0])}


def test_shapes_are_chord_and_bend():
    model, table = fitted("squared")
    assert set(model.shapes_) == {one.feature for one in model.bends_}
    used = next(iter(model.shapes_))
    shape = model.shape_(used)
    # Moving one feature along its knots, all else equal.
    X = np.repeat(table.X[:1], len(shape.knots), axis=0)
    X[:, used] = shape.knots
    predicted = model.predict(X)
    np.testing.assert_allclose(shape.values[:, 0], predicted - predicted[0], atol=1e-10)
    unused = next(j for j in range(6) if j not in model.shapes_)
    assert model.shape_(unused).straight
    assert not model.shape_(unused).values.any()
    for wrong in (6, -1, "age", True):
        with pytest.raises(ValueError, match="no feature"):
            model.shape_(wrong)


def test_linear_models_have_no_bends():
    model, _ = fitted(shapes="linear")
    assert (model.bends_, model.path_.bends) == ((), ())
    assert all(shape.straight for shape in model.shapes_.values())
    assert "shapes" not in model.privacy_.model
    assert fitted()[0].privacy_.model["shapes"] == "auto"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"shapes": "wavy"}, "shapes must be one of"),
        ({"shapes": "additive", "solver": NoisyGD()}, "takes the solver 'pursuit'"),
        ({"shapes": "additive", "solver": Screened(Pursuit(), n_keep=3)}, "takes the solver"),
        ({"shapes": "additive", "fit_intercept": False}, "fit_intercept=True"),
    ],
)
def test_shapes_that_cannot_be_are_refused_before_any_charge(settings, message):
    ledger = Ledger(epsilon=1, delta=1e-3)
    with pytest.raises(ValueError, match=message):
        fitted(epsilon=0.5, ledger=ledger, **settings)
    assert ledger.history() == []


def test_auto_stays_linear_where_bends_cannot_be():
    for settings in ({"fit_intercept": False}, {"solver": Screened(Pursuit(), n_keep=3)}):
        model, _ = fitted(epsilon=2.0, random_state=0, **settings)
        assert model.bends_ == ()
        assert "shapes" not in model.privacy_.model


@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_a_search_scores_models_with_their_bends(loss):
    table = random_table(loss, 300, seed=3)
    model = estimator(loss, epsilon=1.0, delta=1e-3, bounds=BOUNDS, solver=Bent(tight=True))
    settings = Settings.of(model)
    problem = model._problem(Given(table.X, table.y), settings)
    scoring = np.arange(300) % 5 == 0
    trial = Trial.of(settings, problem, scoring, rho=1.0)
    solution = exact_solution(trial.plan, trial.problem.data)
    made = model._publish(Coefficients.of(solution, trial.problem), record_of(loss))
    found = made.predict_proba(table.X[scoring])
    truth = np.eye(found.shape[1])[table.y[scoring]]
    brier = ((found - truth) ** 2).sum(axis=1) / 2
    assert made.bends_
    assert trial._score(solution) == pytest.approx((1 - brier).sum(), rel=1e-9)


def record_of(loss):
    """The record of some fit: what is published needs one."""
    return fitted(loss)[0].privacy_


def test_a_search_may_choose_among_shapes():
    table = random_table("logistic", 300, seed=3)
    model = SparseLogisticRegression(bounds=BOUNDS, classes=(0, 1), n_nonzero=3, solver=Bent())
    search = PrivateSearchCV(
        model, {"shapes": ["linear", "additive"]}, epsilon=8.0, delta=1e-3, random_state=0
    ).fit(table.X, table.y)
    bends = search.best_estimator_.bends_
    assert len(bends) == (3 if search.best_params_["shapes"] == "additive" else 0)

"""Pairs: what interactions are, that estimators predict with them, and when there are none."""

import pickle

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from sparsedp import Bounds
from sparsedp.data.interaction import Interaction, in_order, interacting, scaled, unit_values
from sparsedp.data.predict import linear_predictor
from sparsedp.estimators.records import Given
from sparsedp.fit.coefficients import Coefficients
from sparsedp.fit.search.trial import Trial
from sparsedp.fit.settings import Settings
from sparsedp.fit.solve import exact_solution
from sparsedp.solvers import NoisyGD, Pursuit, Screened
from tests.bent import Bent, bend
from tests.cases import BOUNDS, LOSSES, N_FEATURES, estimator, random_table
from tests.whole import whole, whole_estimator

PAIRS = ((0, 1), (0, 3), (2, 5), (4, 5))
TIGHT = Bent(tight=True, pairs=PAIRS)


def fitted(loss="logistic", layout="dense", **settings):
    """A model with interactions, without noise unless epsilon says otherwise."""
    table = random_table(loss, 400, seed=1)
    how = {"epsilon": np.inf, "delta": 1e-3, "bounds": BOUNDS, "n_nonzero": 3, "solver": TIGHT}
    model = estimator(loss, **how | settings)
    return model.fit(table.features(layout), table.y), table


def in_pairs(model):
    return {j for pair in model.interactions_ for j in pair.features}


def by_hand(model, X):
    """Margins by the published numbers, of shape (n, n_outputs)."""
    lower, upper = model.clip_bounds_
    X = np.clip(X, lower, upper)
    units = (X - (lower + upper) / 2) / ((upper - lower) / 2)
    margins = X @ np.atleast_2d(model.coef_).T + model.intercept_
    for one in model.bends_:
        margins += one.at(X[:, one.feature])
    for pair in model.interactions_:
        margins += np.outer(units[:, pair.first] * units[:, pair.second], pair.weights)
    return margins


def margins(model, X, loss):
    """What the estimator says, before the link."""
    if loss == "poisson":
        return np.log(model.predict(X))
    return model.predict(X) if loss in ("squared", "huber") else model.decision_function(X)


def agree(model, X, loss):
    expected = by_hand(model, X)
    if loss == "poisson":
        expected = np.minimum(expected, np.log(LOSSES[loss].limit))
    found = np.reshape(margins(model, X, loss), expected.shape)
    np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize(("first", "second"), [(1, 0), (1, 1), (-1, 0)])
def test_an_interaction_is_of_two_features_in_order(first, second):
    with pytest.raises(ValueError, match="two features, in their order"):
        Interaction(first, second, np.ones(1))


@pytest.mark.parametrize("weights", [[], [0, 0], [1, np.nan], [np.inf], [[1.0]], 1.0])
def test_weights_are_finite_and_not_all_zero(weights):
    with pytest.raises(ValueError, match="weights of an interaction"):
        Interaction(0, 1, np.array(weights, dtype=float))


def test_an_interaction_keeps_what_it_was_given():
    given_weights = np.array([1, 0])
    pair = Interaction(2, 5, given_weights)
    given_weights[0] = 9
    assert (pair.features, pair.weights.tolist()) == ((2, 5), [1.0, 0.0])
    with pytest.raises(ValueError, match="read-only"):
        pair.weights[0] = 3.0
    with pytest.raises(AttributeError):
        pair.first = 0  # pyrefly: ignore[read-only]  that is the point
    assert interacting([pair], 7).tolist() == [False, False, True, False, False, True, False]


def test_the_term_is_the_weight_at_equal_ends_and_minus_the_weight_at_others():
    pair = Interaction(0, 1, np.array([3.0, -1.0]))
    found = pair.at([1, -1, 1, -1, 0, 0.5, np.nan], [1, -1, -1, 1, 1, -0.5, 1])
    np.testing.assert_array_equal(found[:, 0], [3, 3, -3, -3, 0, -0.75, np.nan])
    np.testing.assert_array_equal(found[:-1, 1] * -3, found[:-1, 0])


def test_weights_change_units_and_vanish_where_they_are_too_small():
    pair, small = Interaction(1, 2, np.array([3.0, -1.0])), Interaction(0, 9, np.array([1e-200]))
    assert pair.scaled(-2.0).weights.tolist() == [-6, 2]
    assert (small.scaled(1e-200), pair.scaled(0.0)) == (None, None)
    assert [one.features for one in scaled([pair, small], 1e-200)] == [(1, 2)]
    assert [one.features for one in in_order([pair, small])] == [(0, 9), (1, 2)]


FAR = st.floats(-1e50, 1e50)


@given(FAR, FAR, st.floats(0, 1))
def test_units_stay_within_one_and_are_exact_at_both_limits(one, other, part):
    lower, upper = sorted([one, other])
    inside = min(max(lower + part * (upper - lower), lower), upper)
    low, found, high = unit_values([lower, inside, upper], lower, upper)
    assert -1 <= found <= 1
    assert (low, high) == ((-1, 1) if lower < upper else (0, 0))
    apart = upper - lower > 1e-6 * max(-lower, upper, 1e-290)
    assert not apart or found == pytest.approx(2 * part - 1, abs=1e-9)


def test_what_is_missing_stays_missing_and_rising_values_have_rising_units():
    assert np.isnan(unit_values([np.nan], 0.0, 1.0)).all()
    values = np.linspace(0.1, 0.7, 1001)
    assert (np.diff(unit_values(values, 0.1, 0.7)) >= 0).all()
    assert unit_values([5e-324, 0.0], 0.0, 5e-324).tolist() == [1, -1]


def test_predictions_depend_on_their_record_alone():
    """To the last bit, whatever other records there are and wherever blocks of them end."""
    random = np.random.default_rng(2)
    X = random.normal(size=(300, 6))
    bends = (bend(4, random.normal(size=(3, 2))),)
    pairs = tuple(Interaction(*pair, random.normal(size=2)) for pair in PAIRS)
    coef, intercept = random.normal(size=(2, 6)), random.normal(size=2)
    coef[:, [0, 4]] = 0  # a feature that is in a pair only is read as well
    lower, upper = np.array([-1, -2, 0.5, -1, -1, 0]), np.array([1, 0, 0.5, 2, 1, 0.5])
    middle = (lower + upper) / 2
    how = coef, intercept, lower, upper, middle, bends, pairs
    together = linear_predictor(X, *how)
    for rows in (slice(0, 1), slice(7, 9), slice(100, 300)):
        assert linear_predictor(X[rows], *how).tobytes() == together[rows].tobytes()
    for stored in (sparse.csr_array(X), sparse.csc_array(X)):
        assert linear_predictor(stored, *how).tobytes() == together.tobytes()
    holes = np.where(random.random(X.shape) < 0.3, np.nan, X)
    filled = np.where(np.isnan(holes), middle, X)
    for given_X, values in ((X, X), (holes, filled)):
        inside = np.clip(values, lower, upper)
        width = np.where(upper > lower, upper - lower, np.inf)
        units = np.where(upper > lower, 2 * (inside - lower) / width - 1, 0)
        expected = inside @ coef.T + intercept + bends[0].at(inside[:, 4])
        for pair in pairs:
            expected += np.outer(units[:, pair.first] * units[:, pair.second], pair.weights)
        np.testing.assert_allclose(linear_predictor(given_X, *how), expected, atol=1e-12)
    assert linear_predictor(holes, *how).tobytes() == linear_predictor(filled, *how).tobytes()


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_fitted_model_predicts_what_it_says(loss, layout):
    """With bounds that the solver tightened, too: units are of the limits that predictions use."""
    model, table = fitted(loss, layout=layout)
    assert tuple(pair.features for pair in model.interactions_) == PAIRS
    assert model.privacy_.model["interactions"] is True
    agree(model, table.X, loss)
    wide, _ = fitted(loss, layout=layout, solver=Bent(pairs=PAIRS))
    assert not wide.clipped_
    agree(wide, table.X, loss)
    assert whole(wide.predict(table.features("sparse"))) == whole(wide.predict(table.X))


@pytest.mark.parametrize("own_path", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_models_of_the_path_have_pairs_of_their_own_features(loss, own_path):
    model, table = fitted(loss, solver=Bent(tight=True, pairs=PAIRS, path=own_path))
    path = model.path_
    assert set(path.order.tolist()) == set(range(N_FEATURES))  # all are used, as pairs have them
    for k in range(1, len(path) + 1):
        entered = set(path.order[:k].tolist())
        expected = [pair for pair in PAIRS if entered.issuperset(pair)]
        assert [pair.features for pair in path.model(k).interactions_] == expected
        agree(path.model(k), table.X, loss)
    np.testing.assert_allclose(path.model(k).predict(table.X), model.predict(table.X), rtol=1e-12)


def test_a_model_survives_a_pickle_and_its_clone_has_no_fit():
    model, table = fitted("multinomial")
    back = pickle.loads(pickle.dumps(model))
    assert whole_estimator(back) == whole_estimator(model)
    assert whole(back.decision_function(table.X)) == whole(model.decision_function(table.X))
    assert not hasattr(clone(model), "interactions_")


@pytest.mark.parametrize("loss", ["squared", "multinomial"])
def test_shapes_are_effects_with_all_others_in_the_middle(loss):
    model, _ = fitted(loss)
    assert set(model.shapes_) == set(range(N_FEATURES))
    for j, shape in model.shapes_.items():
        X = np.tile((model.clip_bounds_[0] + model.clip_bounds_[1]) / 2, (len(shape.knots), 1))
        X[:, j] = shape.knots
        found = np.reshape(margins(model, X, loss), shape.values.shape)
        np.testing.assert_allclose(found - found[0], shape.values, atol=1e-10)


def test_a_feature_that_is_in_a_pair_only_is_used():
    model, _ = fitted()
    alone = in_pairs(model) - set(np.flatnonzero(model.coef_[0]).tolist())
    assert alone
    for j in alone:
        assert not model.shape_(j).values.any()
        assert model.clipped_[j] == (model.clip_bounds_[0][j], model.clip_bounds_[1][j])


@pytest.mark.parametrize("loss", ["squared", "multinomial"])
def test_the_linear_form_is_that_without_pairs_and_as_far_as_they_can_add(loss):
    model, table = fitted(loss)
    form = model.linear_form_
    off = np.reshape(margins(model, table.X, loss), (400, -1))
    inside = np.clip(table.X, BOUNDS.lower, BOUNDS.upper)
    off = np.abs(off - inside @ np.atleast_2d(form.coef).T - form.intercept)
    assert 0.1 * form.largest_difference < off.max() <= form.largest_difference
    pairs, model.interactions_ = model.interactions_, ()
    without = model.linear_form_
    assert whole((form.coef, form.intercept)) == whole((without.coef, without.intercept))
    more = form.largest_difference - without.largest_difference
    weights = np.sum([np.abs(pair.weights) for pair in pairs], axis=0)
    assert weights.min() - 1e-12 <= more <= weights.max() + 1e-12


@pytest.mark.parametrize(
    "settings",
    [
        {"shapes": "additive"},
        {"shapes": "linear"},
        {"monotone": {0: "increasing"}},
        {"fit_intercept": False},
        {"solver": NoisyGD()},
        {"solver": Screened(Pursuit(), n_keep=3)},
        {"solver": "pursuit", "intervals": True},
        {"solver": "pursuit", "n_nonzero": 3},
        {"solver": "pursuit", "bounds": Bounds(BOUNDS.lower, BOUNDS.upper, row_norm=10.0)},
    ],
    ids=str,
)
def test_effects_only_add_up(settings):
    model, table = fitted(**{"n_nonzero": N_FEATURES, "epsilon": 8.0, "random_state": 0} | settings)
    assert model.interactions_ == ()
    assert not any(model.path_.model(k).interactions_ for k in range(1, len(model.path_) + 1))
    agree(model, table.X, "logistic")


def test_weights_are_in_units_of_the_target():
    table = random_table("squared", 400, seed=1)
    model, _ = fitted("squared")
    other = clone(model).set_params(target_bounds=(-23.0, 47.0)).fit(table.X, 10 * table.y - 3)
    for one, ten in zip(model.interactions_, other.interactions_, strict=True):
        np.testing.assert_allclose(ten.weights, 10 * one.weights, rtol=1e-9)
    for k in (3, N_FEATURES):
        one, ten = (fit.path_.model(k).predict(table.X) for fit in (model, other))
        np.testing.assert_allclose(ten, 10 * one - 3, rtol=1e-9)


@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_a_search_scores_models_with_their_pairs(loss):
    table = random_table(loss, 300, seed=3)
    model = estimator(loss, epsilon=1.0, delta=1e-3, bounds=BOUNDS, solver=TIGHT)
    settings = Settings.of(model)
    trial = Trial.of(
        settings, model._problem(Given(table.X, table.y), settings), np.arange(300) % 5 == 0, 1.0
    )
    solution = exact_solution(trial.plan, trial.problem.data)
    made = model._publish(Coefficients.of(solution, trial.problem), fitted(loss)[0].privacy_)
    assert made.interactions_
    found = made.predict_proba(table.X[::5])
    brier = ((found - np.eye(found.shape[1])[table.y[::5]]) ** 2).sum(axis=1) / 2
    assert trial._score(solution) == pytest.approx((1 - brier).sum(), rel=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_drawings_have_a_panel_per_pair(loss):
    model, _ = fitted(loss)
    for most, count in ((6, 4), (2, 2), (1, 1)):
        figure = model.plot_interactions(most=most)
        seen = [ax for ax in figure.axes if ax.get_visible() and ax.images]
        heaviest = sorted(model.interactions_, key=lambda pair: -np.abs(pair.weights).max())
        names = [(f"x{pair.first}", f"x{pair.second}") for pair in heaviest[:count]]
        assert [(ax.get_xlabel(), ax.get_ylabel()) for ax in seen] == names
        for ax, pair in zip(seen, heaviest, strict=False):
            weight = pair.weights[np.abs(pair.weights).argmax()]
            drawn = ax.images[0].get_array()
            assert [drawn[0, 0], drawn[0, -1], drawn[-1, -1]] == [weight, -weight, weight]
            lower, upper = (limits[list(pair.features)] for limits in model.clip_bounds_)
            assert ax.images[0].get_extent() == [lower[0], upper[0], lower[1], upper[1]]
    plt.close("all")


def test_a_model_without_pairs_says_so():
    for loss in ("logistic", "multinomial", "squared", "poisson"):
        figure = fitted(loss, shapes="additive")[0].plot_interactions()
        assert figure.get_suptitle() == "No features of the model interact."
        assert not any(ax.get_visible() for ax in figure.axes)
    plt.close("all")

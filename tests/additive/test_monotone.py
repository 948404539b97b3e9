"""Effects that were promised to rise or fall do so, and change as little as they must."""

import numpy as np
import pytest
from sklearn.isotonic import isotonic_regression

from sparsedp import Ledger, PrivateSearchCV, SparseLogisticRegression
from sparsedp.fit.monotone import isotonic, made_monotone
from sparsedp.solvers import NoisyGD, Solution, SolutionPath
from tests.bent import KNOTS, Bent, bend
from tests.cases import BOUNDS, estimator, random_table

LOSSES = ["logistic", "squared", "poisson"]


def fitted(loss="logistic", **settings):
    table = random_table(loss, 400, seed=1)
    how = {"epsilon": np.inf, "delta": 1e-3, "bounds": BOUNDS, "n_nonzero": 3}
    model = estimator(loss, **how | {"solver": Bent(tight=True)} | settings)
    return model.fit(table.X, table.y)


def test_pooling_is_the_closest_sequence_that_never_falls():
    random = np.random.default_rng(0)
    for size in (1, 2, 5, 17):
        values = random.normal(size=size)
        np.testing.assert_allclose(isotonic(values), isotonic_regression(values), atol=1e-12)
    assert isotonic(np.array([1.0, 1.0, 2.0])).tolist() == [1, 1, 2]
    assert isotonic(np.array([np.nan, 1.0])).size == 2


@pytest.mark.parametrize("direction", ["increasing", "decreasing"])
@pytest.mark.parametrize("loss", LOSSES)
def test_effects_do_as_promised_along_the_path_too(loss, direction):
    solver = Bent(tight=True, path=True)
    plain = fitted(loss, solver=solver)
    model = fitted(loss, solver=solver, monotone=dict.fromkeys(range(6), direction))
    sign = 1 if direction == "increasing" else -1
    bad = 0
    assert model.path_.order.tolist() == plain.path_.order.tolist()
    for k in range(1, 4):
        before, after = plain.path_.model(k), model.path_.model(k)
        for j in before.shapes_:
            was, now = before.shape_(j), after.shape_(j)
            assert (sign * np.diff(now.values[:, 0]) >= -1e-12).all()
            bad += (sign * np.diff(was.values[:, 0]) < 0).any()
    assert bad  # else nothing was tested
    # Of a path that is made from the model afterwards, features without an effect are no part.
    made = fitted(loss, monotone=dict.fromkeys(range(6), direction))
    X = random_table(loss, 50, seed=2).X
    for last in (model.path_.model(3), made.path_.model(len(made.path_)), made):
        np.testing.assert_allclose(last.predict(X), model.predict(X), rtol=1e-12)
    assert set(made.path_.order.tolist()) == set(made.shapes_)


def test_means_over_knots_stay_and_what_is_right_already_is_left_alone():
    random = np.random.default_rng(4)
    bends = tuple(bend(j, random.normal(size=(3, 1))) for j in range(4))
    weights = random.normal(size=6)
    weights[0] = 20.0  # too steep for its bend to matter
    solution = Solution(weights=weights, bends=bends)
    found = made_monotone(solution, {0: "increasing", 1: "increasing", 4: "decreasing"})
    assert found.weights[0] == 20.0
    assert found.bends[0] is bends[0]
    assert found.bends[-2:] == bends[2:]
    assert found.weights[2:4].tolist() == weights[2:4].tolist()
    assert found.weights[4] == min(weights[4], 0)

    def mean(of):
        one = next((one for one in of.bends if one.feature == 1), None)
        effect = of.weights[1] * KNOTS + (0 if one is None else one.heights[:, 0])
        return of.weights[-1] + effect.mean()

    assert mean(found) == pytest.approx(mean(solution), abs=1e-12)
    assert found.weights[-1] != weights[-1]


def test_an_effect_that_only_falls_becomes_nothing_if_it_shall_rise():
    solution = Solution(weights=np.array([-5.0, 0.25]), bends=(bend(0, np.full((3, 1), 0.1)),))
    found = made_monotone(solution, {0: "increasing"})
    assert found.bends == ()
    assert found.weights[0] == 0
    path = SolutionPath(np.array([0]), np.array([[[-5.0]]]), np.array([[0.25]]), (solution.bends,))
    along = made_monotone(Solution(weights=solution.weights, path=path), {0: "increasing"}).path
    assert along is not None
    assert (along.weights.tolist(), along.bends) == ([[[0.0]]], ((),))
    assert made_monotone(solution, {}) is solution
    assert np.isnan(made_monotone(Solution(np.array([np.nan, 1.0])), {0: "increasing"}).weights[0])


def test_straight_effects_of_any_solver():
    plain = fitted(solver=NoisyGD(n_steps=5))
    wrong = "decreasing" if plain.coef_[0, 1] > 0 else "increasing"
    model = fitted(solver=NoisyGD(n_steps=5), monotone={1: wrong})
    assert model.coef_[0, 1] == 0
    np.testing.assert_array_equal(np.delete(model.coef_, 1), np.delete(plain.coef_, 1))
    assert model.privacy_.model["monotone"] == {wrong: [1]}


@pytest.mark.parametrize(
    ("monotone", "message"),
    [
        ({"age": "increasing"}, "'age', which is no feature"),
        ({6: "increasing"}, "6, which is no feature"),
        ({True: "increasing"}, "True, which is no feature"),
        ({-1: "increasing"}, "-1, which is no feature"),
        ({0: "up"}, "'up', not one of"),
        (["age"], "must be a mapping"),
    ],
)
def test_what_cannot_be_promised_is_refused_before_any_charge(monotone, message):
    ledger = Ledger(epsilon=1, delta=1e-3)
    with pytest.raises(ValueError, match=message):
        fitted(epsilon=0.5, ledger=ledger, monotone=monotone)
    assert ledger.history() == []


def test_more_than_two_classes_and_two_directions_are_refused():
    with pytest.raises(ValueError, match="two classes"):
        fitted("multinomial", monotone={0: "increasing"})
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [1.0, 2.0, 3.0, 4.0], "size": [0.0, 1.0, 0.0, 1.0]})
    model = SparseLogisticRegression(
        epsilon=np.inf, delta=1e-3, bounds=(0, 5), classes=(0, 1), solver=Bent()
    )
    with pytest.raises(ValueError, match="twice"):
        model.set_params(monotone={"age": "increasing", 0: "decreasing"}).fit(frame, [0, 1, 0, 1])
    model.set_params(monotone={"size": "decreasing", 1: "decreasing"}).fit(frame, [0, 1, 0, 1])
    assert model.privacy_.model["monotone"] == {"decreasing": [1]}
    assert model.shape_("size").values[-1, 0] <= 0


def test_a_search_has_them_in_its_trials():
    table = random_table("logistic", 300, seed=1)
    model = SparseLogisticRegression(bounds=BOUNDS, classes=(0, 1), solver=Bent())
    search = PrivateSearchCV(
        model,
        {"monotone": [dict.fromkeys(range(6), "increasing")]},
        epsilon=3.0,
        delta=1e-3,
        random_state=0,
    ).fit(table.X, table.y)
    shapes = search.best_estimator_.shapes_.values()
    assert all((np.diff(shape.values[:, 0]) >= -1e-12).all() for shape in shapes)
    assert search.privacy_.model["monotone"] == {"increasing": list(range(6))}

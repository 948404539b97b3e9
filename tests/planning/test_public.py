"""A public sample in the place of a guess: the solver itself, on repeated records."""

import numpy as np
import pytest

from sparsedp import Bounds, Schema, plan
from sparsedp.planning.public import PublicSample

RNG = np.random.default_rng(5)


def sample(n=200, persons=None):
    X = RNG.uniform(-1, 1, (n, 3))
    y = (X[:, 0] + 0.3 * RNG.normal(size=n) > 0).astype(int)
    return PublicSample(X=X, y=y, bounds=Bounds(-1, 1), kind="binary", persons=persons)


def test_the_solver_runs_on_the_sample():
    made = sample()
    found = plan(n_records=2000, n_features=3, epsilon=3, public=made)
    assert found.from_public
    assert found.assumed == ()
    assert found.facts.rate == pytest.approx(made.y.mean())
    assert 0.8 < found.quality.at_least < found.quality.expected < 1
    assert "public sample" in repr(found)


def test_the_sample_says_what_is_predicted():
    made = sample(80)
    numbers = PublicSample(
        X=made.X, y=made.X[:, 0], bounds=Bounds(-1, 1), kind="regression", target_bounds=(-1, 1)
    )
    found = plan(n_records=60, n_features=3, epsilon=9, public=numbers)
    assert found.metric == "R2"
    assert found.facts.spread == pytest.approx(np.std(made.X[:, 0]))


def test_copies_of_a_person_are_other_persons():
    whose = np.repeat(np.arange(20), 3)
    made = sample(60, persons=whose)
    rows, persons = made.tiled(np.arange(30), 25)  # ten persons of three rows
    assert persons is not None
    assert len(np.unique(persons)) == 25
    assert np.bincount(persons).tolist() == [3] * 25
    np.testing.assert_array_equal(whose[rows], np.repeat(np.arange(25) % 10, 3))


def test_no_person_is_fitted_to_and_tested():
    whose = np.repeat(np.arange(60), 2)
    for fitted, tested in sample(120, persons=whose).folds():
        assert not set(whose[fitted]) & set(whose[tested])


def test_a_sample_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="columns"):
        plan(n_records=2000, n_features=4, epsilon=3, public=sample())
    with pytest.raises(ValueError, match="at least 40"):
        plan(n_records=2000, n_features=3, epsilon=3, public=sample(30))


def test_a_raw_table_by_its_schema():
    schema = Schema.from_toml("""
    [target]
    column = "y"
    classes = ["no", "yes"]
    [person]
    column = "who"
    [features.x]
    lower = 0
    upper = 2
    """)
    table = {"x": ["1", "2"], "y": ["yes", "no"], "who": ["a", "b"]}
    made = PublicSample.from_table(table, schema)
    assert made.X.tolist() == [[1.0], [2.0]]
    assert made.y.tolist() == [1, 0]
    assert made.persons.tolist() == [0, 1]
    assert made.kind == "binary"

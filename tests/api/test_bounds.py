"""Bounds: what users write, what they are told, and that promises survive every journey."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone

from sparsedp.data import Bounds

NAMED = Bounds(lower=[0, -1], upper=[120, 1], features=["age", "score"])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (2, Bounds(-2, 2)),
        (0.5, Bounds(-0.5, 0.5)),
        (np.float32(0.5), Bounds(-0.5, 0.5)),
        ((0, 1), Bounds(0, 1)),
        ([-1.0, 3], Bounds(-1, 3)),
        (([0, 0], [1, 2]), Bounds([0, 0], [1, 2])),
        (NAMED, NAMED),
    ],
)
def test_coerce_reads_what_users_write(value, expected):
    assert Bounds.coerce(value) == expected


@pytest.mark.parametrize("value", [None, "wide", True, (1, 2, 3), {"lower": 0}, np.zeros((2, 2))])
def test_coerce_says_what_to_write(value):
    with pytest.raises(ValueError, match=r"bounds=Bounds\(lower=0, upper=1\)"):
        Bounds.coerce(value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lower": 1, "upper": 1}, "lower must be below upper"),
        ({"lower": 2, "upper": 1}, "lower must be below upper"),
        ({"lower": [0, 3], "upper": [1, 2]}, "feature 1"),
        ({"lower": [0, 3], "upper": [1, 2], "features": ["a", "b"]}, "feature 'b'"),
        ({"lower": 0, "upper": np.inf}, "finite"),
        ({"lower": np.nan, "upper": 1}, "finite"),
        ({"lower": [0, 0], "upper": [1, 1, 1]}, "differ in length"),
        ({"lower": [0, 0], "upper": 1, "features": ["a"]}, "differ in length"),
        ({"lower": "low", "upper": 1}, "must be a number"),
        ({"lower": [[0]], "upper": 1}, "must be a number"),
        ({"lower": [], "upper": []}, "must be a number"),
        ({"lower": -1, "upper": 1, "row_norm": 0}, "positive"),
        ({"lower": -1, "upper": 1, "row_norm": -2}, "positive"),
        ({"lower": -1, "upper": 1, "row_norm": np.inf}, "finite"),
        ({"lower": 1, "upper": 2, "row_norm": 1}, "lower <= 0 <= upper"),
        ({"lower": [0, -2], "upper": [1, -1], "row_norm": 1}, "lower <= 0 <= upper"),
        ({"lower": 0, "upper": 1, "features": "age"}, "sequence of names"),
        ({"lower": 0, "upper": 1, "features": ["a", "a"]}, "differ from each other"),
        ({"lower": -1.5e308, "upper": 1.5e308}, "beyond 1e.50"),
        ({"lower": 0, "upper": 1.1e50}, "beyond 1e.50"),
        ({"lower": 0, "upper": 5e-324}, "double precision"),
        ({"lower": 0, "upper": 0.9e-50}, "double precision"),
        ({"lower": 2.0**41, "upper": 2.0**41 + 1}, "double precision"),
        ({"lower": 0, "upper": 1, "row_norm": 1e-51}, "change the unit"),
        ({"lower": 0, "upper": 1, "row_norm": 1e13}, "change the unit"),
        ({"lower": 0, "upper": 1, "binary": "smoker"}, "binary=True"),
        ({"lower": 0, "upper": 1, "binary": False}, "binary=True"),
        ({"lower": 0, "upper": 1, "binary": ["smoker"]}, "'smoker', which is no feature"),
        ({"lower": 0, "upper": 1, "binary": [-1]}, "no feature"),
        ({"lower": 0, "upper": 1, "binary": [True, False]}, "no feature"),
        ({"lower": 0, "upper": 1, "binary": [0.5]}, "no feature"),
        ({"lower": [0, 0], "upper": 1, "binary": [2]}, "no feature"),
        ({"lower": 0, "upper": 1, "features": ["a", "b"], "binary": ["c"]}, "'c', which is no"),
    ],
)
def test_promises_that_cannot_hold_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Bounds(**arguments)


def test_symmetric():
    assert Bounds.symmetric(3, row_norm=2) == Bounds(-3, 3, row_norm=2)
    assert Bounds.symmetric([1, 2]) == Bounds([-1, -2], [1, 2])
    for limit in (0, -1, [1, 0]):
        with pytest.raises(ValueError, match="positive"):
            Bounds.symmetric(limit)


def test_equal_promises_compare_equal_however_written():
    assert Bounds(0, [1, 1]) == Bounds((0.0, 0.0), np.ones(2))
    assert Bounds(0, 1, features=["a", "b"]) == Bounds([0, 0], [1, 1], features=("a", "b"))
    assert hash(Bounds(0, [1, 1])) == hash(Bounds([0, 0], 1 + np.zeros(2)))
    assert Bounds(0, 1) != Bounds(0, 2)
    with pytest.raises(AttributeError):
        NAMED.lower = 0  # pyrefly: ignore[read-only]  that is the point


def test_promises_survive_copies_pickles_and_clone():
    class Holder(BaseEstimator):
        def __init__(self, bounds=None):
            self.bounds = bounds

    for bounds in (Bounds(0, 1, row_norm=2), NAMED, Bounds([0, 0], [1, 2])):
        assert copy.deepcopy(bounds) == bounds
        assert pickle.loads(pickle.dumps(bounds)) == bounds
        assert clone(Holder(bounds)).bounds == bounds


def test_aligned_follows_names_and_lists_what_is_wrong():
    assert NAMED.aligned(2, ["score", "age"]) == Bounds(
        [-1, 0], [1, 120], features=["score", "age"]
    )
    assert NAMED.aligned(2) == NAMED
    assert Bounds(0, 1).aligned(7, ["a"] * 7) == Bounds(0, 1)
    with pytest.raises(ValueError, match="Declare bounds for 'height'"):
        NAMED.aligned(2, ["age", "height"])
    with pytest.raises(ValueError, match="'score', which the data do not have"):
        NAMED.aligned(1, ["age"])
    with pytest.raises(ValueError, match="and 5 more"):
        NAMED.aligned(12, [*"abcdefghij", "age", "score"])
    with pytest.raises(ValueError, match="declared for 2 features, the data have 3"):
        NAMED.aligned(3)


def test_containing_zero():
    assert Bounds([1, -2, -1], [2, -1, 1]).containing_zero() == Bounds([0, -2, -1], [2, 0, 1])


def test_unit_map_sends_corners_to_one():
    bounds = Bounds([0, -3], [120, 1])
    lower, upper = bounds.arrays(2)
    centered = bounds.unit_map(2, centered=True)
    assert ((lower - centered.center) / centered.half_width).tolist() == [-1, -1]
    assert ((upper - centered.center) / centered.half_width).tolist() == [1, 1]
    plain = bounds.unit_map(2, centered=False)
    assert plain.center.tolist() == [0, 0]
    assert plain.half_width.tolist() == [120, 3]


@pytest.mark.parametrize("shape", [(2,), (2, 3)])
def test_unit_map_carries_weights_both_ways(shape):
    rng = np.random.default_rng(0)
    unit_map = Bounds([0, -3], [120, 1]).unit_map(2, centered=True)
    weights, intercept = rng.normal(size=shape), rng.normal(size=shape[1:])
    coef, offset = unit_map.to_original(weights, intercept)
    X = rng.uniform([0, -3], [120, 1], size=(5, 2))
    unit = (X - unit_map.center) / unit_map.half_width
    np.testing.assert_allclose(X @ coef + offset, unit @ weights + intercept)
    back = unit_map.from_original(coef, offset)
    np.testing.assert_allclose(back[0], weights)
    np.testing.assert_allclose(back[1], intercept)


limits = st.floats(-1e9, 1e9)
names = st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, unique=True)


@given(st.data())
def test_toml_round_trip(data):
    features = data.draw(st.none() | names)
    size = len(features) if features else data.draw(st.integers(1, 4))
    per_feature = features is not None or data.draw(st.booleans())
    pairs = [sorted(data.draw(st.tuples(limits, limits))) for _ in range(size)]
    lower = [low for low, _ in pairs]
    upper = [high + 1 for _, high in pairs]
    row_norm = None
    if data.draw(st.booleans()):
        lower, upper, row_norm = [-abs(v) for v in lower], [abs(v) + 1 for v in upper], 2.5
    binary = data.draw(st.sampled_from([None, True]) | st.lists(st.integers(0, size - 1)))
    bounds = Bounds(
        lower if per_feature else lower[0],
        upper if per_feature else upper[0],
        row_norm,
        features,
        binary,
    )
    assert Bounds.from_toml(bounds.to_toml()) == bounds


def test_toml_fills_in_what_all_features_share(tmp_path):
    text = """
    [bounds]
    lower = 0
    upper = 1
    row_norm = 3
    [features.smoker]
    [features."blood pressure"]
    upper = 250
    [other]
    upper = "ignored"
    """
    expected = Bounds([0, 0], [1, 250], row_norm=3, features=["smoker", "blood pressure"])
    assert Bounds.from_toml(text) == expected
    path = tmp_path / "bounds.toml"
    path.write_text(text, encoding="utf-8")
    assert Bounds.from_toml(path) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"No \[bounds\] table"),
        ("[bounds]\nlower = 0", "needs upper"),
        ("[bounds]\nlower = 0\nuper = 1", "not 'uper'"),
        ("[bounds]\nlower = 0\n[features.a]", "No upper for 'a'"),
        ("[features.a]\nlower = 0\nupper = 1\nunit = 'cm'", "not 'unit'"),
        ("[bounds]\nlower = [0]\nupper = 1\n[features.a]", "use one of both"),
        ("[bounds]\nlower = 0\nupper = 'x'", "must be a number"),
        ("[bounds]\nlower = 0\nupper = 1\nbinary = 1", "binary=True"),
        ("[bounds]\nlower = 0\nupper = 1\nbinary = [0]\n[features.a]", "true or false for 'a'"),
        ("[features.a]\nlower = 0\nupper = 1\nbinary = 1", "true or false for 'a'"),
    ],
)
def test_toml_mistakes_are_named(text, message):
    with pytest.raises(ValueError, match=message):
        Bounds.from_toml(text)


def test_a_million_features_with_scalar_bounds_cost_nothing():
    bounds = Bounds(0, 1).aligned(1_000_000)
    assert isinstance(bounds.lower, float)
    unit_map = bounds.unit_map(1_000_000, centered=True)
    for vector in (*bounds.arrays(1_000_000), unit_map.center, unit_map.half_width):
        assert vector.shape == (1_000_000,)
        assert vector.strides == (0,)
    coef, intercept = unit_map.to_original(np.ones(1_000_000), 0.0)
    assert coef[0] == 2
    assert intercept == -1_000_000
    assert len(repr(Bounds(np.zeros(1_000_000), np.ones(1_000_000)))) < 200


def test_binary_features_follow_their_columns():
    bounds = Bounds(0, [120, 1, 1], features=["age", "smoker", "male"], binary=["male", "smoker"])
    assert bounds == Bounds(0, [120, 1, 1], features=["age", "smoker", "male"], binary=[2, 1, 1])
    assert bounds.binary == (1, 2)
    assert bounds.aligned(3, ["male", "age", "smoker"]).binary == (0, 2)
    assert bounds.of_features(np.array([2, 0]), 3).binary == (0,)
    assert bounds.of_features(np.array([2, 1]), 3).binary is True
    assert bounds.of_features(np.array([0]), 3).binary is None
    assert bounds.binary_features(3).tolist() == [False, True, True]
    assert pickle.loads(pickle.dumps(bounds)) == copy.deepcopy(bounds) == bounds
    assert Bounds(0, 1, binary=[]) == Bounds(0, 1)
    assert Bounds(0, 1, binary=[3]).aligned(4).binary == (3,)
    with pytest.raises(ValueError, match="no feature"):
        Bounds(0, 1, binary=[3]).aligned(3)


def test_a_binary_feature_without_zero_is_none_in_sparse_data():
    """Entries that a sparse matrix omits are zeros: a third value."""
    assert Bounds(0, 1, binary=True).containing_zero().binary is True
    assert Bounds(1, 2, binary=True).containing_zero().binary is None
    assert Bounds([1, 0], 2, binary=True).containing_zero().binary == (1,)


def test_repr():
    assert repr(Bounds(0, 1, binary=[2])) == "Bounds(lower=0.0, upper=1.0, binary=(2,))"
    assert repr(Bounds(0, 1, row_norm=2)) == "Bounds(lower=0.0, upper=1.0, row_norm=2.0)"
    assert repr(NAMED).endswith("features=('age', 'score'))")


def test_a_string_may_name_a_file(tmp_path):
    """Review finding: the name itself was parsed as TOML."""
    bounds = Bounds(0.0, 2.0, row_norm=3.0)
    path = tmp_path / "bounds.toml"
    path.write_text(bounds.to_toml())
    assert Bounds.from_toml(str(path)) == Bounds.from_toml(path) == bounds
    assert Bounds.from_toml(bounds.to_toml()) == bounds
    with pytest.raises(FileNotFoundError):
        Bounds.from_toml(str(tmp_path / "nowhere.toml"))

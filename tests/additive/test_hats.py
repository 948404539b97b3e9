"""Hats: parts that add up to one, record by record; columns of them stay within their limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sparsedp._kernels import COMPILED
from sparsedp._kernels.sums import levels_reference, norms_reference, products_reference
from sparsedp.data.bounds import Bounds
from sparsedp.data.columns import hats as hats_module
from sparsedp.data.columns import subset
from sparsedp.data.columns.hats import by_rows, waves
from sparsedp.data.columns.subset import ColumnSubset
from sparsedp.data.dataset import Dataset
from sparsedp.data.sums import norms, products
from sparsedp.solvers.pursuit.columns.cells import CellCounts, Hats
from sparsedp.solvers.pursuit.columns.shapes import Shapes, _knots

UNIT = 2.0**-52


@pytest.fixture(params=["used", "reference"] if COMPILED else ["used"])
def kernel(request, monkeypatch):
    if request.param == "reference":
        monkeypatch.setattr(products, "kernel", products_reference)
        monkeypatch.setattr(norms, "kernel", norms_reference)
        monkeypatch.setattr(hats_module, "kernel", levels_reference)


def knots_of(random, m: int, q: int = 17) -> np.ndarray:
    """From -1 to 1, some of them much closer together than others."""
    inner = np.sort(random.uniform(-1, 1, size=(m, q - 2)) ** random.choice([1, 3, 5]), axis=1)
    return np.hstack([np.full((m, 1), -1.0), inner, np.ones((m, 1))])


def hats(values: np.ndarray, knots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of columns that all have knots."""
    starts = knots.shape[1] * np.arange(len(knots), dtype=np.int32)
    return hats_module.hats(values, knots, starts, np.zeros(len(knots)))


def values_of(random, n: int, knots: np.ndarray) -> np.ndarray:
    """All over the unit box, on its ends, on knots, and beside them by a bit."""
    values = random.uniform(-1, 1, size=(n, len(knots)))
    at = random.integers(0, knots.shape[1], size=values.shape)
    on = np.take_along_axis(knots, at.T, axis=1).T
    kind = random.integers(0, 5, size=values.shape)
    values = np.where(kind == 0, on, values)
    values = np.where(kind == 1, np.clip(np.nextafter(on, 2), -1, 1), values)
    return np.where(kind == 2, np.clip(np.nextafter(on, -2), -1, 1), values)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_parts_add_up_to_one_and_give_back_what_is_linear_between_knots(seed):
    random = np.random.default_rng(seed)
    knots = knots_of(random, 3)
    values = values_of(random, 40, knots)
    places, parts = hats(values, knots)
    assert parts.min() >= 0
    assert parts.max() <= 1
    pairs = parts.reshape(40, 3, 2)
    assert np.abs(pairs.sum(axis=2) - 1).max() <= UNIT
    assert (np.diff(places.reshape(40, 3, 2), axis=2) == 1).all()
    assert (places.reshape(40, 3, 2) // 17 == np.arange(3)[:, None]).all()
    assert (np.diff(places, axis=1) > 0).all()  # in the order that sparse arrays need
    table = by_rows(places, parts, 3 * 17)
    heights = random.normal(size=(3, 17))
    for j in range(3):
        found = table.toarray()[:, 17 * j : 17 * (j + 1)] @ heights[j]
        expected = np.interp(values[:, j], knots[j], heights[j])
        np.testing.assert_allclose(found, expected, atol=1e-9)
        # A column of knots gives back the values.
        again = table.toarray()[:, 17 * j : 17 * (j + 1)] @ knots[j]
        np.testing.assert_allclose(again, values[:, j], atol=1e-12)


@pytest.mark.skipif(not COMPILED, reason="compares with the compiled loop")
def test_hats_of_both_kernels_are_the_same_to_the_last_bit(monkeypatch):
    random = np.random.default_rng(6)
    knots = knots_of(random, 7)
    values = values_of(random, 500, knots)
    values[:4, 2] = [-np.inf, np.inf, 1e300, -0.0]
    knots[[0, 3, 6]] = np.nan
    starts = np.cumsum([4, 1, 17, 17, 1, 17, 17], dtype=np.int32)
    ends = np.array([-1.0, 0, 0, 1, 0, 0, -1])
    places, parts = hats_module.hats(values, knots, starts, ends)
    monkeypatch.setattr(hats_module, "kernel", levels_reference)
    same_places, same_parts = hats_module.hats(values, knots, starts, ends)
    assert places.tobytes() == same_places.tobytes()
    assert parts.tobytes() == same_parts.tobytes()
    assert places.shape == parts.shape == (500, 2 * 4 + 3)
    np.testing.assert_array_equal(parts[:, 0], values[:, 0] + 1)


def test_a_record_s_hats_depend_on_it_alone_to_the_last_bit(kernel):
    random = np.random.default_rng(0)
    knots = knots_of(random, 5)
    values = values_of(random, 300, knots)
    places, parts = hats(values, knots)
    for rows in (slice(0, 1), slice(17, 40), slice(299, 300), random.permutation(300)[:99]):
        some, part = hats(values[rows], knots)
        assert some.tobytes() == places[rows].tobytes()
        assert part.tobytes() == parts[rows].tobytes()


@pytest.mark.parametrize("value", [-5.0, 5.0, np.inf, -np.inf])
def test_beyond_the_knots_a_value_has_no_more_than_its_part(kernel, value):
    _, parts = hats(np.array([[value]]), np.array([[-1.0, 0.2, 1.0]]))
    assert sorted(parts[0]) == [0, 1]


def test_waves_lie_within_one_and_begin_there():
    for n_knots in (3, 17, 32):
        heights = waves(n_knots, 12)
        assert np.abs(heights).max() <= 1
        np.testing.assert_array_equal(heights[0], 1)
        np.testing.assert_allclose(heights[-1], (-1.0) ** np.arange(1, 13))


# Columns made of hats -----------------------------------------------------------------------------

D = 5
STORAGES = {"dense": np.asarray, "csr": sparse.csr_array, "csc": sparse.csc_array}


def dataset(store, n=80, seed=1, weights=None) -> Dataset:
    random = np.random.default_rng(seed)
    X = random.uniform(-3, 3, size=(n, D)) * (random.random((n, D)) < 0.7)
    return Dataset.clip(store(X), np.zeros(n), Bounds(-2, 2), sample_weight=weights)


def shapes(n_waves=4) -> Shapes:
    """Features 1 and 3 stay straight; a tenth of each is at its end."""
    knots = knots_of(np.random.default_rng(2), D)
    knots[[1, 3]] = np.nan
    return Shapes(knots, n_waves, np.array([-1.0, 1, -1, -1, 1]))


def taken(data: Dataset, rounds: list[list[int]]) -> ColumnSubset:
    """Features in some rounds."""
    made, found = shapes(), ColumnSubset.of(data, np.zeros(0, dtype=np.intp))
    chosen: list[int] = []
    for features in rounds:
        chosen += features
        new = np.array(features)
        basis = made.basis(np.array(chosen))
        how = made.knots[new], made.ends[new], basis
        found = ColumnSubset.with_hats(data, new, *how, found)
    return found


def expected(data: Dataset, features: list[int]) -> np.ndarray:
    """The same columns by interpolation, after a constant one."""
    made, values = shapes(), data.columns(range(D))
    columns = [np.ones(len(values))]
    for j in features:
        columns.append(values[:, j])
        if j in made.bent:
            heights = made.heights / np.arange(1, made.n_waves + 1)
            columns += [np.interp(values[:, j], made.knots[j], h) for h in heights.T]
    return np.column_stack(columns)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("store", STORAGES)
def test_columns_are_what_interpolation_makes_of_the_values(kernel, store, weighted):
    random = np.random.default_rng(3)
    weights = random.uniform(size=80) if weighted else None
    data = dataset(STORAGES[store], weights=weights)
    count = np.ones(80) if data.weights is None else data.weights
    features = [4, 1, 0, 3]
    columns = expected(data, features)
    limits = np.concatenate([[1.0], *[shapes().limits(j) for j in features]])
    assert (np.abs(columns) <= limits * (1 + 1e-12)).all()
    size = columns.shape[1]
    matrix, r = random.normal(size=(size, size)), random.normal(size=(80, 2))
    for rounds in ([[4, 1, 0, 3]], [[4], [1], [0, 3]], [[4, 1], [0, 3]]):
        found = taken(data, rounds)
        np.testing.assert_allclose(found.margins(np.eye(size)), columns, atol=1e-12)
        written = np.concatenate([values.copy() for values, _ in found.dense()])
        np.testing.assert_allclose(written, columns, atol=1e-12)
        old = 1 + sum(len(shapes().limits(j)) for part in rounds[:-1] for j in part)
        gram = columns.T @ (count[:, None] * columns[:, old:])
        np.testing.assert_allclose(found.gram(old), gram, atol=1e-10)
        lengths = np.linalg.norm(columns @ matrix, axis=1)
        assert (found.lengths(matrix) >= lengths * (1 - 1e-12)).all()
        np.testing.assert_allclose(found.lengths(matrix), lengths, rtol=1e-6)
        sums = (columns @ matrix).T @ (count[:, None] * r)
        np.testing.assert_allclose(found.sums(r, matrix), sums, atol=1e-9)


@pytest.mark.parametrize("store", STORAGES)
def test_what_is_at_an_end_is_not_stored(kernel, store):
    data = dataset(STORAGES[store])
    values, made = data.columns(range(D)), shapes()
    found = taken(data, [[3], [1]])
    for place, j in enumerate((3, 1)):
        away = values[:, j] != made.ends[j]
        assert 10 < away.sum() < 75
        stored = found.storage.toarray()[:, place]
        np.testing.assert_array_equal(stored, values[:, j] - made.ends[j])
    assert found.storage.nnz == np.count_nonzero(found.storage.toarray())
    # The value comes back but for a rounding, and never beyond the box.
    again = found.margins(np.eye(3))[:, 1:]
    assert np.abs(again - values[:, [3, 1]]).max() <= 2.0**-53
    assert np.abs(again).max() <= 1


@pytest.mark.parametrize("store", STORAGES)
def test_margins_and_lengths_of_a_record_depend_on_it_alone(kernel, store, monkeypatch):
    data = dataset(STORAGES[store])
    whole = taken(data, [[4, 1], [0]])
    size = 1 + whole.basis.shape[1]
    matrix = np.random.default_rng(4).normal(size=(size, size))
    keep = np.arange(80) % 3 == 0
    part = taken(data.rows(keep), [[4, 1], [0]])
    assert part.margins(matrix).tobytes() == whole.margins(matrix)[keep].tobytes()
    assert part.lengths(matrix).tobytes() == whole.lengths(matrix)[keep].tobytes()
    # However many of them are written down at a time.
    monkeypatch.setattr(subset, "ENTRIES_AT_ONCE", 7 * size)
    some, all_of_them = (np.concatenate([v.copy() for v, _ in c.dense()]) for c in (part, whole))
    assert some.tobytes() == all_of_them[keep].tobytes()


def test_no_records_have_columns_too(kernel):
    data = dataset(np.asarray).rows(np.zeros(80, dtype=bool))
    found = taken(data, [[4, 1], [0], [2, 3]])
    size = 1 + found.basis.shape[1]
    assert found.margins(np.eye(size)).shape == (0, size)
    np.testing.assert_array_equal(found.gram(3), np.zeros((size, size - 3)))


@pytest.mark.parametrize("store", STORAGES)
def test_hats_of_many_features_are_those_of_each(store):
    """More of them than are looked at together."""
    random = np.random.default_rng(5)
    X = random.uniform(-1, 1, size=(20, 70)) * (random.random((20, 70)) < 0.7)
    data = Dataset.clip(STORAGES[store](X), np.zeros(20), Bounds(-1, 1))
    knots = knots_of(random, 70)
    features = np.array([j for j in range(70) if j != 9])
    found = Hats(features, knots[features])(data).toarray().reshape(20, 69, 17)
    for place, j in enumerate(features):
        one = by_rows(*hats(data.columns([j]), knots[[j]]), 17).toarray()
        np.testing.assert_array_equal(found[:, place], one)
    cells = CellCounts(features, 32)(data)
    edges = np.linspace(-1, 1, 33)
    for place, j in enumerate(features):
        counted, _ = np.histogram(data.columns([j]), bins=edges)
        np.testing.assert_array_equal(cells[place], counted)


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 10**6), loud=st.sampled_from([0.0, 1.0, 30.0, 1e4]))
def test_knots_ascend_whatever_the_counts(seed, loud):
    """Counts with noise may be negative, or all in one cell."""
    random = np.random.default_rng(seed)
    counts = np.zeros(32)
    counts[random.integers(0, 32, size=random.integers(1, 9))] = random.choice([1, 1e3, 1e9])
    cells = counts + loud * random.normal(size=32)
    knots = _knots(cells, loud, float(random.choice([10.0, 1e3, 1e9])))
    if not np.isnan(knots).any():
        assert (knots[0], knots[-1]) == (-1, 1)
        assert np.diff(knots).min() > 1e-4
    else:
        assert np.isnan(knots).all()

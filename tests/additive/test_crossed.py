"""Columns that are products of two features: not stored, but the same number wherever it counts."""

import dataclasses
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from sparsedp import Bounds
from sparsedp._kernels import COMPILED
from sparsedp._kernels.crossed import crossed_reference as reference
from sparsedp.data.columns import crossed as crossed_module
from sparsedp.data.columns.crossed import Crossed, Crossing
from sparsedp.data.columns.subset import ColumnSubset
from sparsedp.data.dataset import Dataset
from sparsedp.data.sums import norms, products
from sparsedp.solvers.pursuit.records import no_features

BOX = Bounds(-1.0, 1.0)
FIRST, SECOND = np.array([0, 0, 2]), np.array([1, 3, 3])
CENTERS, LEVELS = np.array([0.25, -0.5, 0.0, 0.125]), np.array([0.0, 0.3, -0.1])
CROSSING = Crossing.of(FIRST, SECOND, CENTERS[FIRST], CENTERS[SECOND], LEVELS)
LAYOUTS = ("dense", "csr", "csc")


@pytest.fixture(params=["compiled", "reference"] if COMPILED else ["reference"])
def kernel(request, monkeypatch):
    if request.param == "reference":
        monkeypatch.setattr(crossed_module, "kernel", reference)


def held(layout: str, n: int = 200) -> Dataset:
    """Records of four features, whose zeros are not stored where they are sparse."""
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (n, 4)) * (random.random((n, 4)) < 0.6)
    X[0], X[1] = 2.0, -2.0  # beyond the bounds
    stored = {"dense": X, "csr": sparse.csr_array(X), "csc": sparse.csc_array(X)}[layout]
    y = (X[:, 0] > 0).astype(int)
    return Dataset.clip(stored, y, BOX, classes=[0, 1], intercept=True)


def taken(data: Dataset, hats: bool) -> ColumnSubset:
    """The columns of three features, the second one as hats if there are any."""
    features, nothing = np.array([3, 0, 2]), no_features(data)
    if not hats:
        return ColumnSubset.of(data, features, nothing)
    knots = np.full((3, 5), np.nan)
    knots[1] = np.linspace(-1, 1, 5)
    basis = np.zeros((7, 3))
    basis[0, 0] = basis[6, 2] = 1.0
    basis[1:6, 1] = knots[1]
    ends = np.array([-1.0, 1.0, 1.0])
    return ColumnSubset.with_hats(data, features, knots, ends, basis, nothing)


def crossed(data: Dataset, hats: bool = False) -> ColumnSubset:
    """The same, and products after them."""
    return dataclasses.replace(taken(data, hats), crossed=Crossed.of(data, CROSSING))


def expected(data: Dataset) -> np.ndarray:
    """Two roundings after those of the features about their centers."""
    units = data.columns(range(4)) - CENTERS
    return units[:, FIRST] * units[:, SECOND] - LEVELS


@pytest.mark.parametrize("hats", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_margins_know_the_products_to_the_last_bit(kernel, layout, hats):
    data = held(layout)
    before, found = taken(data, hats), crossed(data, hats)
    table = found.margins(np.eye(4 + 3))
    assert_array_equal(table[:, 4:], expected(data))
    assert_array_equal(table[:, :4], before.margins(np.eye(4)))
    # One output is another loop, with the same numbers.
    for column in range(4, 7):
        alone = found.margins(np.eye(7)[:, [column]])
        assert_array_equal(alone[:, 0], table[:, column])


@pytest.mark.parametrize("hats", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_sums_and_lengths_know_the_products(kernel, layout, hats):
    data = held(layout)
    found = crossed(data, hats)
    random = np.random.default_rng(1)
    matrix = np.zeros((7, 7))
    matrix[:4, :4] = random.normal(size=(4, 4))
    matrix[4:, 4:] = own = np.tril(random.normal(size=(3, 3)))
    residuals = random.normal(size=(200, 2))
    turned = found.margins(np.eye(7)) @ matrix
    lengths = found.crossed.lengths(own)
    assert (lengths >= np.linalg.norm(turned[:, 4:], axis=1)).all()
    assert_allclose(lengths, np.linalg.norm(turned[:, 4:], axis=1), rtol=1e-9, atol=1e-12)
    both = norms.together(found.lengths(matrix[:4, :4]), lengths)
    assert (both >= np.linalg.norm(turned, axis=1)).all()
    assert_allclose(both, np.linalg.norm(turned, axis=1), rtol=1e-9)
    assert_allclose(found.sums(residuals, matrix), turned.T @ residuals, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_record_s_products_do_not_know_the_others(kernel, layout):
    data = held(layout)
    whole = Crossed.of(data, CROSSING)
    matrix = np.tril(np.random.default_rng(3).normal(size=(3, 3)))
    margins = np.zeros((200, 2))
    whole.add_to(margins, matrix[:, :2])
    lengths = whole.lengths(matrix)
    X = data.columns(range(4))
    # Wherever a record stands: in another strip, at another place in it, at its end.
    for rows in (*map(slice, range(9), range(1, 10)), slice(0, 7), slice(3, 67), slice(61, 200)):
        part = X[rows]
        stored = part if layout == "dense" else sparse.csr_array(part).asformat(layout)
        few = Dataset.clip(stored, np.arange(len(part)) % 2, BOX, classes=[0, 1], intercept=True)
        own = Crossed.of(few, CROSSING)
        some = np.zeros((len(part), 2))
        own.add_to(some, matrix[:, :2])
        assert some.tobytes() == margins[rows].tobytes()
        assert own.lengths(matrix).tobytes() == lengths[rows].tobytes()
        again = np.zeros((len(part), 2))
        whole.rows(rows).add_to(again, matrix[:, :2])
        assert again.tobytes() == some.tobytes()


def exact_sums(columns: np.ndarray, residuals: np.ndarray) -> np.ndarray:
    """Of products that are rounded once, as every loop has them."""
    terms = columns[:, :, None] * residuals[:, None]
    return np.array([[np.sum(v.astype(np.longdouble)) for v in row] for row in terms.T]).T


@pytest.mark.parametrize("n", [0, 1, 7, 8, 63, 64, 65, 1000])
def test_sums_are_as_exact_as_pairs_promise(kernel, n):
    """Of terms that nearly cancel: one by one, and with runs of eight in which each rounds once."""
    random = np.random.default_rng(n)
    data = held("dense", 1002)
    found = Crossed.of(data, CROSSING).rows(slice(2, 2 + n))
    residuals = random.normal(size=(n, 2)) * 10.0 ** random.integers(-12, 12, size=(n, 1))
    columns = expected(data)[2 : 2 + n]
    exact, sizes = exact_sums(columns, residuals), np.abs(columns).T @ np.abs(residuals)
    one_by_one = found.sums(residuals, 2.0**40, None)
    assert (np.abs(one_by_one.rounded() - exact) <= 2.0**-52 * np.abs(exact) + 1e-300).all()
    in_runs = found.sums(residuals, 1.0, None)
    assert (np.abs(in_runs.rounded() - exact) <= 8 * 2.0**-53 * sizes + 1e-300).all()


@pytest.mark.skipif(not COMPILED, reason="compares with the compiled loops")
@pytest.mark.parametrize(("n", "width"), list(product([0, 1, 65, 300], [1, 3])))
def test_both_kernels_have_the_same_numbers(monkeypatch, n, width):
    random = np.random.default_rng(width)
    parts = np.ascontiguousarray(random.uniform(-2, 2, (6, n)))
    places = np.ascontiguousarray(random.integers(0, 6, (11, 2)))
    crossing = Crossing(np.arange(6), np.zeros(6), places, random.normal(size=11))
    found = Crossed(parts, crossing)
    weights, residuals = random.normal(size=(11, width)), random.normal(size=(n, width))
    matrix = np.tril(random.normal(size=(11, 11)))
    matrix[:, 4] = 0.0

    def answers() -> tuple[np.ndarray, ...]:
        margins = np.zeros((n, width))
        found.add_to(margins, weights)
        return margins, found.sums(residuals, 2.0**40, None).rounded(), found.lengths(matrix)

    compiled = answers()
    monkeypatch.setattr(crossed_module, "kernel", reference)
    margins, sums, lengths = answers()
    assert compiled[0].tobytes() == margins.tobytes()
    assert_allclose(compiled[1], sums, rtol=1e-15, atol=1e-300)
    assert_allclose(compiled[2], lengths, rtol=1e-13)


def test_a_record_alone_has_the_length_that_it_has_among_others(kernel):
    """Of many products, whose squares add up in another order where an array is short."""
    random = np.random.default_rng(7)
    crossing = Crossing(
        np.arange(9), np.zeros(9), random.integers(0, 9, (40, 2)), random.normal(size=40)
    )
    found = Crossed(random.uniform(-1, 1, (9, 70)), crossing)
    matrix = np.tril(random.normal(size=(40, 40)))
    lengths = found.lengths(matrix)
    for record in range(70):
        alone = found.rows(slice(record, record + 1)).lengths(matrix)
        assert alone.tobytes() == lengths[[record]].tobytes()


def test_lengths_of_terms_that_cancel_count_the_terms(kernel):
    """Coordinates that are what is left of far longer ones are not believed to be short."""
    parts = np.array([[1.0, 1.0], [1.0, 0.5]])
    crossing = Crossing(np.arange(2), np.zeros(2), np.array([[0, 1], [1, 0]]), np.zeros(2))
    matrix = np.array([[1e6, 0.0], [-1e6, 0.0]])
    found = Crossed(parts, crossing).lengths(matrix)
    assert (found >= np.array([2e6, 1e6]) / norms.MOST_CANCELED).all()


def test_parts_of_the_records_add_up_to_what_all_of_them_do(kernel, monkeypatch):
    """Steps look at some records at a time; the cut changes nothing but roundings of runs."""
    monkeypatch.setattr("sparsedp.data.columns.subset.ENTRIES_IN_PART", 64 * 3)
    data = held("dense")
    found = crossed(data)
    residuals = np.random.default_rng(5).normal(size=(200, 1))
    whole, parts = found.stored_sums(residuals), list(found.parts())
    assert len(parts) == 4
    pair = parts[0][0].stored_sums(residuals[parts[0][1]])
    for columns, rows in parts[1:]:
        pair = pair.plus(columns.stored_sums(residuals[rows]))
    assert_array_equal(pair.rounded(), whole.rounded())
    assert isinstance(whole, products.Pair)

"""Some columns in other coordinates: norms that are never too short, sums that do not cancel."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from sparsedp._kernels import COMPILED
from sparsedp._kernels.sums import entries_reference, norms_reference, products_reference
from sparsedp.data import Bounds, Dataset
from sparsedp.data.columns import index, subset
from sparsedp.data.columns.subset import ColumnSubset
from sparsedp.data.sums import norms, products
from sparsedp.data.sums.norms import MOST_CANCELED
from sparsedp.losses import Logistic
from sparsedp.solvers.pursuit.records import LabelLoss, StepSums, Whiten, targets_of

STORAGES = {"dense": np.asarray, "csr": sparse.csr_array, "csc": sparse.csc_array}
FEATURES = np.array([4, 0, 2])


@pytest.fixture(params=["used", "reference"] if COMPILED else ["used"])
def kernel(request, monkeypatch):
    if request.param == "reference":
        monkeypatch.setattr(products, "kernel", products_reference)
        monkeypatch.setattr(norms, "kernel", norms_reference)
        monkeypatch.setattr(index, "kernel", entries_reference)


@pytest.fixture(params=list(STORAGES))
def store(request):
    return STORAGES[request.param]


def views(store, n=60):
    """Records in the unit box and, with a row norm, in declared units."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 2, (n, 5)) * (rng.random((n, 5)) < 0.6)
    for intercept in (True, False):
        for bounds in (Bounds(-1, 2), Bounds(-1, 2, row_norm=1.5)):
            data = Dataset.clip(store(X), np.zeros(n), bounds, intercept=intercept)
            yield data
            yield data.declared_units()


def columns_of(data, features):
    constant = np.ones((data.n_records, int(data.intercept)))
    return np.hstack([constant, data.columns(features)])


def test_columns_are_those_that_solvers_see(kernel, store):
    rng = np.random.default_rng(1)
    for data in views(store):
        chosen = ColumnSubset.of(data, FEATURES[2:], ColumnSubset.of(data, FEATURES[:2]))
        columns = columns_of(data, FEATURES)
        size = columns.shape[1]
        weights, r = rng.normal(size=(size, 2)), rng.normal(size=(data.n_records, 2))
        matrix = rng.normal(size=(size, size))
        np.testing.assert_allclose(chosen.margins(weights), columns @ weights, atol=1e-13)
        np.testing.assert_allclose(chosen.gram(size - 2), columns.T @ columns[:, -2:], atol=1e-12)
        np.testing.assert_allclose(chosen.gram(size - 3), columns.T @ columns[:, -3:], atol=1e-12)
        np.testing.assert_allclose(chosen.sums(r, matrix), (columns @ matrix).T @ r, atol=1e-12)
        norms = np.linalg.norm(columns @ matrix, axis=1)
        np.testing.assert_allclose(chosen.lengths(matrix), norms, rtol=1e-12, atol=1e-140)


def test_no_features_yet(kernel, store):
    for data in views(store):
        chosen = ColumnSubset.of(data, np.zeros(0, dtype=np.intp))
        size = int(data.intercept)
        r = np.ones((data.n_records, 1))
        assert (chosen.margins(np.full((size, 1), 2.0)) == 2.0 * size).all()
        np.testing.assert_array_equal(chosen.sums(r, np.eye(size)), np.full((size, 1), 60.0))
        np.testing.assert_allclose(
            chosen.lengths(np.eye(size)), float(size), rtol=1e-12, atol=1e-140
        )


def exact_rows(chosen, matrix):
    """Coordinates as fractions."""
    k = len(chosen.features)
    stored = index.dense(chosen.storage, 0, np.zeros(k), np.ones(k))
    rows = []
    for row in stored:
        column = [Fraction(1)] * chosen.constant
        for x, c, h in zip(row, chosen.shift, chosen.scale, strict=True):
            column.append((Fraction(x) - Fraction(c)) / Fraction(h))
        rows.append(
            [sum(a * Fraction(m) for a, m in zip(column, q, strict=True)) for q in matrix.T]
        )
    return rows


def test_lengths_are_never_too_short(kernel, store):
    """Coordinates of some records nearly vanish, which is where rounding counts."""
    rng = np.random.default_rng(2)
    for data in views(store, 12):
        chosen = ColumnSubset.of(data, FEATURES)
        columns = columns_of(data, FEATURES)
        size = columns.shape[1]
        matrix = rng.normal(size=(size, size))
        aim = columns[np.argmax(np.abs(columns).sum(axis=1))]
        matrix -= np.outer(aim, aim @ matrix) / (aim @ aim) * (1 - 1e-14)
        lengths = chosen.lengths(matrix)
        for row, length in zip(exact_rows(chosen, matrix), lengths, strict=True):
            square = sum(value**2 for value in row)
            assert Fraction(length) ** 2 >= square
        sizes = np.abs(columns) @ np.linalg.norm(matrix, axis=1)
        assert (lengths * MOST_CANCELED >= sizes * (1 - 1e-9)).all()


@pytest.mark.parametrize("plain", [False, True])
def test_sums_of_terms_that_cancel_are_nearly_exact(kernel, store, plain, monkeypatch):
    """Coordinates of every record nearly vanish: sums are a part in 1e9 of their terms."""
    if not plain:
        monkeypatch.setattr(products, "PLAIN_ADDITIONS", 0.0)
    rng = np.random.default_rng(3)
    n = 800
    base = np.array([0.3, 0.7, 0.5])
    X = base + 1e-9 * rng.choice([-1.0, 1.0], (n, 3))
    data = Dataset.clip(store(X), np.zeros(n), Bounds(0, 1))
    chosen = ColumnSubset.of(data, np.arange(3))
    aim = columns_of(data, np.arange(3)).mean(axis=0)
    matrix = rng.normal(size=(4, 4))
    matrix -= np.outer(aim, aim @ matrix) / (aim @ aim)
    r = rng.uniform(0.5, 1, (n, 1))
    found = chosen.sums(r, matrix)[:, 0]
    rows = exact_rows(chosen, matrix)
    exact = [
        float(sum(row[q] * Fraction(w) for row, w in zip(rows, r[:, 0], strict=True)))
        for q in range(4)
    ]
    # Products x r are rounded, each a matter of its record alone, and so are numbers that are
    # public: together n * 2^-53 of the terms. Plain sums may cost a little more.
    allowed = 8 * n * 2.0**-53 + plain * 2.0**-22 / MOST_CANCELED
    np.testing.assert_allclose(found, exact, rtol=0, atol=allowed)


@pytest.mark.parametrize("form", list(STORAGES))
def test_one_record_among_many_moves_no_sum_by_more_than_its_length(form):
    if not COMPILED:
        pytest.skip("many records are for the compiled loops")
    rng = np.random.default_rng(4)
    n = 200_000
    X = np.column_stack([np.full(n, 0.9), rng.choice([0.0, 0.3, 1.0], n), rng.random(n) < 0.1])
    matrix = rng.normal(size=(4, 4)) * [1, 10, 100, 0.1]
    sums, shares = [], []
    for part in (X, X[1:]):
        data = Dataset.clip(STORAGES[form](part), np.zeros(len(part)), Bounds(0, 1))
        chosen = ColumnSubset.of(data, np.arange(3))
        shares.append(1 / chosen.lengths(matrix)[:, None])
        sums.append(chosen.sums(shares[-1], matrix))
    np.testing.assert_array_equal(shares[0][1:], shares[1])
    assert np.linalg.norm(sums[0] - sums[1]) <= 1 + 1e-7


def test_steps_look_at_some_records_at_a_time_and_find_the_same(kernel, store, monkeypatch):
    """Bit for bit, with weights of rows and offsets too: pairs are off by far less than a bit."""
    n = 203
    rng = np.random.default_rng(5)
    X, y = rng.uniform(-1, 1, (n, 5)), rng.integers(0, 2, n)
    given = {"sample_weight": rng.uniform(0.1, 1, n), "offset": rng.uniform(-1, 1, n)}
    data = Dataset.clip(
        store(X), y, Bounds(-1, 1), classes=(0, 1), intercept=True, offset_bounds=(-1, 1), **given
    )
    block = Whiten.to(rng.normal(size=(4, 4)))(ColumnSubset.of(data, FEATURES), targets_of(data))
    steps = StepSums(LabelLoss(Logistic()), rng.normal(size=(4, 1)), 0.7)
    whole = steps(block)
    monkeypatch.setattr(subset, "ENTRIES_IN_PART", 200)  # 64 records of three columns
    n_parts = len(list(block.columns.parts()))
    assert n_parts == (4 if isinstance(data.storage, np.ndarray) else 1)
    for found, expected in zip(steps(block), whole, strict=True):
        np.testing.assert_array_equal(found, expected)

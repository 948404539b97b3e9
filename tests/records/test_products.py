"""Sums over records against exact arithmetic, and scores that depend on their record alone."""

import math
import threading
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sparsedp import RecordBlocks
from sparsedp._kernels import COMPILED
from sparsedp._kernels.sums import norms_reference, products_reference
from sparsedp.data import Bounds, Dataset
from sparsedp.data.columns.subset import ColumnSubset
from sparsedp.data.sums import norms, products
from sparsedp.mechanisms.slack import SUMMATION_SLACK

KERNELS = {"reference": (products_reference, norms_reference)}
if COMPILED:
    from sparsedp._kernels.sums import norms as compiled_norms
    from sparsedp._kernels.sums import products as compiled_products

    KERNELS["compiled"] = (compiled_products, compiled_norms)

STORAGES = {
    "dense": np.asarray,
    "fortran": np.asfortranarray,
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
}


@pytest.fixture(params=list(KERNELS))
def kernel(request, monkeypatch):
    for module, kernel in zip((products, norms), KERNELS[request.param], strict=True):
        monkeypatch.setattr(module, "kernel", kernel)


@pytest.fixture(params=list(STORAGES))
def store(request):
    return STORAGES[request.param]


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(1, 40),
    d=st.integers(1, 5),
    n_outputs=st.integers(0, 3),
    seed=st.integers(0, 2**32 - 1),
)
@pytest.mark.parametrize("name", list(KERNELS))
@pytest.mark.parametrize("form", list(STORAGES))
def test_products_are_those_of_dense_arithmetic(name, form, n, d, n_outputs, seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5), 3)
    outputs = (n_outputs,) if n_outputs else ()
    w, r, shift = rng.normal(size=(d, *outputs)), rng.normal(size=(n, *outputs)), rng.normal(size=d)
    factor = rng.uniform(0.5, 2, d)
    with pytest.MonkeyPatch.context() as patch:
        for module, kernel in zip((products, norms), KERNELS[name], strict=True):
            patch.setattr(module, "kernel", kernel)
        storage = STORAGES[form](X)
        np.testing.assert_allclose(products.times(storage, w, 0.5), X @ w + 0.5, atol=1e-13)
        found = products.weighted_sums(storage, r, shift)
        np.testing.assert_allclose(found.rounded(), (X - shift).T @ r, atol=1e-12)
        twice = found.plus(found).rounded()
        np.testing.assert_allclose(twice, 2 * found.rounded(), rtol=1e-15)
        plainly = products.weighted_sums(storage, r, shift, spread=1.0).rounded()
        np.testing.assert_allclose(plainly, found.rounded(), atol=1e-12)
        np.testing.assert_allclose(products.inner(storage, r), X.T @ r, atol=1e-12)
        np.testing.assert_allclose(products.column_sums(r), r.sum(axis=0), atol=1e-13)
        squares = np.square((X - shift) * factor).sum(axis=1)
        computed = norms.row_squares(storage, factor, shift)
        np.testing.assert_allclose(computed, squares, rtol=1e-12, atol=1e-13)


def adversarial(n, rng):
    """Terms whose roundings add up in a plain sum, and terms that cancel."""
    third = np.full(n, 1 / 3)
    waves = np.where(np.arange(n) % 2, 1.0, -1.0) * rng.uniform(0.9, 1, n)
    ladder = 2.0 ** -(np.arange(n) % 60)
    halves = np.full(n, 2.0**-53 * 1.5)
    halves[0] = 1.0
    return np.column_stack([third, waves, ladder, halves])


# Dense records are added up in groups of eight first: seven roundings, and one at the end.
GROUPED = 8 * 2.0**-53


def test_sums_of_many_records_are_rounded_once(kernel, store):
    rng = np.random.default_rng(0)
    X = adversarial(70_001, rng)
    storage = store(X)
    for r in (np.ones(len(X)), rng.choice([-1.0, 1.0, 0.1, 0.7], len(X))):
        found = products.weighted_sums(storage, r).rounded()
        terms = X * r[:, None]
        exact = np.array([math.fsum(column) for column in terms.T])
        if sparse.issparse(storage):
            np.testing.assert_array_equal(found, exact)
        else:
            assert (np.abs(found - exact) <= GROUPED * np.abs(terms).sum(axis=0)).all()
    np.testing.assert_array_equal(products.column_sums(terms), exact)


def test_plain_sums_of_some_records_err_by_no_more_than_is_allowed(kernel, store):
    rng = np.random.default_rng(7)
    X = adversarial(70_001, rng)
    n, r = len(X), rng.choice([-1.0, 1.0, 0.1, 0.7], len(X))
    terms = X * r[:, None]
    exact = np.array([math.fsum(column) for column in terms.T])
    for spread in (1.0, 2.0**10, 2.0**14, 2.0**31):
        found = products.weighted_sums(store(X), r, spread=spread).rounded()
        # Of the largest term of a record, over the spread: what the record contributes.
        allowed = n * 2.0**-53 + 2.0**-22 / spread
        assert (np.abs(found - exact) <= allowed).all()


@pytest.mark.skipif(not COMPILED, reason="the reference adds nothing up plainly")
def test_a_block_does_not_add_up_plainly_what_others_add_to():
    """By itself it might: then its sum would be off by as much as that of all records may be."""
    X = adversarial(70_001, np.random.default_rng(7))
    parts = RecordBlocks.from_arrays(sparse.csr_array(X), np.zeros(len(X)), rows_per_block=10_000)
    blocks = parts.clip(Bounds.symmetric(1.0), intercept=False)
    chosen = np.arange(X.shape[1])
    off = {"block": 0, "alone": 0, "chosen": 0, "chosen alone": 0}

    def compare(block):
        exact = np.array([math.fsum(column) for column in block.columns(chosen).T])
        r, one = np.ones(block.n_records), np.eye(len(chosen))
        alone = replace(block, most_together=None)
        found = {
            "block": block.rmatvec(r),
            "alone": alone.rmatvec(r),
            "chosen": ColumnSubset.of(block, chosen).sums(r[:, None], one)[:, 0],
            "chosen alone": ColumnSubset.of(alone, chosen).sums(r[:, None], one)[:, 0],
        }
        for name, sums in found.items():
            # Runs of r records with terms b times too long err by (r - 1) b roundings at most.
            short = 8 if name == "block" else 0
            allowed = short * block.n_records * 2.0**-53
            off[name] += int(np.count_nonzero(np.abs(sums - exact) > allowed))
        return exact

    blocks.total(compare)
    assert off["block"] == off["chosen"] == 0
    assert off["chosen alone"] > 0
    assert off["alone"] > 0


@pytest.mark.parametrize("n_outputs", [1, 3, 19, 40])
def test_squares_in_other_coordinates_are_those_of_dense_arithmetic(kernel, store, n_outputs):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(153, 31)) * (rng.random((153, 31)) < 0.5)
    X[7] = 0
    matrix, start = rng.normal(size=(31, n_outputs)), rng.normal(size=n_outputs)
    squares, sizes = norms.mapped_squares(store(X), matrix, start)
    np.testing.assert_allclose(squares, np.square(X @ matrix + start).sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(sizes, np.abs(X) @ np.linalg.norm(matrix, axis=1), rtol=1e-12)
    half = np.tril(rng.normal(size=(31, n_outputs)), 2)
    half[20:24] = 0
    squares_of_half, _ = norms.mapped_squares(store(X), half, start)
    np.testing.assert_allclose(squares_of_half, np.square(X @ half + start).sum(axis=1), rtol=1e-12)
    # The last coordinates begin before the first ones do: no entry may be passed over for good.
    back = np.ascontiguousarray(half[:, ::-1])
    squares_back, _ = norms.mapped_squares(store(X), back, start)
    np.testing.assert_allclose(squares_back, np.square(X @ back + start).sum(axis=1), rtol=1e-12)
    for first in (1, 2, 3, 7):
        moved = norms.mapped_squares(store(X[first:]), matrix, start)
        np.testing.assert_array_equal(moved, (squares[first:], sizes[first:]))


def test_pairs_in_other_coordinates_keep_their_precision(kernel):
    """Sums that cancel to a part in 2^70 of their terms."""
    rng = np.random.default_rng(9)
    matrix = rng.normal(size=(6, 4))
    high, low = rng.normal(size=(6, 2)), rng.normal(size=(6, 2)) * 2.0**-56
    sums = [
        [Fraction(a) + Fraction(b) for a, b in zip(*row, strict=True)]
        for row in zip(high, low, strict=True)
    ]
    exact = [
        [sum(Fraction(matrix[j, q]) * sums[j][k] for j in range(5)) for k in range(2)]
        for q in range(4)
    ]
    # The last row of the matrix is chosen to cancel what the others make.
    high[5], low[5] = 1.0, 0.0
    matrix[5] = [-float(row[0]) for row in exact]
    found = products.mapped(matrix, products.Pair(high, low)).rounded()
    for q in range(4):
        for k in range(2):
            left = float(exact[q][k] + Fraction(matrix[5, q]))
            assert abs(found[q, k] - left) <= 2.0**-53 * abs(left) + 2.0**-95


def test_centering_does_not_cancel(kernel, store):
    """Records close to the shift: their sums are tiny, those of storage and shift are not."""
    rng = np.random.default_rng(1)
    shift = np.array([0.5, 1 / 3, -0.7])
    X = shift + 1e-9 * rng.choice([-1.0, 1.0], (5_000, 3))
    r = rng.uniform(0.5, 1, len(X))
    storage = store(X)
    found = products.weighted_sums(storage, r, shift).rounded()
    if sparse.issparse(storage):
        # Products are rounded, which is a matter of their record alone; all else is exact.
        total = sum(map(Fraction, r))
        sums = [sum(map(Fraction, column)) for column in (X * r[:, None]).T]
        exact = [float(s - Fraction(c) * total) for s, c in zip(sums, shift, strict=True)]
        np.testing.assert_array_equal(found, exact)
    else:
        terms = (X - shift) * r[:, None]
        exact = np.array([math.fsum(column) for column in terms.T])
        assert (np.abs(found - exact) <= GROUPED * np.abs(terms).sum(axis=0)).all()


@pytest.mark.parametrize("n_outputs", [0, 1, 3])
def test_scores_and_norms_do_not_depend_on_the_place_of_a_record(kernel, store, n_outputs):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(53, 131)) * (rng.random((53, 131)) < 0.8)
    w = rng.normal(size=(131, n_outputs) if n_outputs else 131)
    factor, shift = rng.uniform(0.5, 2, 131), rng.normal(size=131)
    scores = products.times(store(X), w, 0.25)
    squares = norms.row_squares(store(X), factor, shift)
    for start in (1, 2, 3, 7):
        np.testing.assert_array_equal(products.times(store(X[start:]), w, 0.25), scores[start:])
        moved = norms.row_squares(store(X[start:]), factor, shift)
        np.testing.assert_array_equal(moved, squares[start:])
    order = rng.permutation(len(X))
    np.testing.assert_array_equal(products.times(store(X[order]), w, 0.25), scores[order])


@pytest.mark.parametrize("form", ["dense", "csr", "csc"])
@pytest.mark.parametrize("intercept", [True, False])
def test_one_record_among_a_million_moves_no_sum_by_more_than_declared(form, intercept):
    """The changed record stands first, so that every later addition is rounded anew."""
    if not COMPILED:
        pytest.skip("a million records are for the compiled loops")
    rng = np.random.default_rng(3)
    n = 1_000_000
    X = np.column_stack([np.full(n, 0.9), rng.choice([0.0, 0.3, 1.0], n)])
    X[0] = 1.0
    r = np.where(rng.random(n) < 0.9, 1 / 3, -1 / 7)
    r[0] = 1 / 3
    records = [
        Dataset.clip(STORAGES[form](part), np.zeros(len(part)), Bounds(0, 1), intercept=intercept)
        for part in (X, X[1:])
    ]
    sums = [data.rmatvec(part) for data, part in zip(records, (r, r[1:]), strict=True)]
    assert np.abs(sums[0] - sums[1]).max() <= 1 / 3 * (1 + (SUMMATION_SLACK - 1) / 100)


def test_norms_are_never_too_short(kernel, store):
    rng = np.random.default_rng(4)
    shift, factor = rng.uniform(-1, 1, 300), rng.uniform(0.5, 2, 300)
    X = shift * (rng.random((20, 300)) < 0.9)  # most entries at the shift: all but a few cancel
    squares = norms.row_squares(store(X), factor, shift)
    for row, square in zip(X, squares, strict=True):
        exact = sum(
            ((Fraction(x) - Fraction(c)) * Fraction(f)) ** 2
            for x, c, f in zip(row, shift, factor, strict=True)
        )
        assert float(exact) <= square <= float(exact) + 1e-9


@pytest.mark.parametrize("d", [1, 5, 150])
def test_no_record_is_left_outside_a_ball(kernel, d):
    rng = np.random.default_rng(11)
    center = rng.uniform(-1, 1, d)
    X = center + rng.normal(size=(60, d)) * rng.choice([0.1, 1, 30], size=(60, 1)) / math.sqrt(d)
    X[3], X[4] = 1e200, center  # a square that overflows, and no way to go
    table = np.empty((60, 1 + d))  # rows with something beside them
    table[:, 0], table[:, 1:] = 7.0, X
    norms.into_ball(table[:, 1:], center, 0.5)
    found = table[:, 1:]
    assert (table[:, 0] == 7).all()
    assert not found[3].any()
    moved = np.delete(X - center, 3, axis=0)
    lengths = np.linalg.norm(moved, axis=1)
    inside = lengths < 0.5
    assert 0 < inside.sum() < len(inside)
    others = np.delete(found, 3, axis=0)
    np.testing.assert_array_equal(others[inside], moved[inside])
    shrunk = moved[~inside] * (0.5 / lengths[~inside])[:, None]
    np.testing.assert_allclose(others[~inside], shrunk, rtol=1e-12)
    for row in others:  # an entry is off by one rounding, of a factor that is a bit too small
        assert sum(Fraction(x) ** 2 for x in row) <= Fraction(0.5) ** 2
    again = X[7:].copy()
    norms.into_ball(again, center, 0.5)
    np.testing.assert_array_equal(again, found[7:])


def test_the_gate_refuses_more_records_than_the_proof_covers(monkeypatch):
    monkeypatch.setattr(products, "MOST_RECORDS", 3)
    X = np.zeros((4, 1))
    with pytest.raises(ValueError, match="more than 3 records"):
        Dataset.clip(X, np.zeros(4), Bounds(-1, 1))
    assert Dataset.clip(X[:3], np.zeros(3), Bounds(-1, 1)).n_records == 3


def test_a_center_is_subtracted_from_every_record(kernel, store):
    rng = np.random.default_rng(5)
    X, center = rng.uniform(-1, 2, (30, 4)), rng.uniform(-0.5, 0.5, 4)
    for data in (
        Dataset.clip(store(X), np.zeros(30), Bounds(-1, 2)),
        Dataset.clip(store(X), np.zeros(30), Bounds(-1, 2, row_norm=2.0)).declared_units(),
    ):
        rows = data.columns(np.arange(5))
        rows[:, :4] -= center
        w, r = rng.normal(size=5), rng.normal(size=(30, 2))
        np.testing.assert_allclose(data.matvec(w, center), rows @ w, atol=1e-13)
        np.testing.assert_allclose(data.rmatvec(r, center), rows.T @ r, atol=1e-13)
        np.testing.assert_allclose(data.row_norms(center), np.linalg.norm(rows, axis=1), atol=1e-11)


def test_threads_share_a_dataset():
    rng = np.random.default_rng(6)
    X = sparse.random_array((2_000, 50), density=0.2, rng=rng, format="csr")
    data = Dataset.clip(X, np.zeros(2_000), Bounds(0, 1))
    w, r = rng.normal(size=51), rng.normal(size=2_000)
    expected = data.matvec(w), data.rmatvec(r)
    found = [None] * 4

    def work(i):
        found[i] = [(data.matvec(w), data.rmatvec(r)) for _ in range(20)]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for results in found:
        for scores, sums in results:
            np.testing.assert_array_equal(scores, expected[0])
            np.testing.assert_array_equal(sums, expected[1])

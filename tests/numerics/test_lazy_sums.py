"""Sums over records of the compiled walk against exact arithmetic, in all forms of the records.

At weights zero the derivatives of squared loss are minus the targets, so that targets serve as
terms. Sums must be off by at most as many roundings of the absolute terms as mechanisms/lazy.md
says; plain sums in as many lanes, planted here, are off by more.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

from sparsedp._kernels import COMPILED
from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.losses import Logistic
from sparsedp.sets import L1Ball
from sparsedp.solvers.compact import compact_columns
from sparsedp.solvers.vertex_walk import VertexWalk

pytestmark = pytest.mark.skipif(not COMPILED, reason="the compiled kernel is not here")

UNIT = 2.0**-53
LANES, BLOCK = 8, 32
N = 70_001
FORMS = {"dense": np.asarray, "csr": csr_array, "csc": csc_array}


def terms(name, n):
    """Numbers up to one whose roundings add up in a plain sum, or which cancel."""
    rng = np.random.default_rng(0)
    if name == "small after large":
        numbers = np.full(n, 1.5 * UNIT)
        numbers[: BLOCK * LANES] = 1.0
    elif name == "ladder":
        numbers = 2.0 ** -(np.arange(n) % 60)
    elif name == "thirds":
        numbers = np.full(n, 1 / 3)
    else:
        numbers = rng.uniform(0.9, 1, n) * np.where(np.arange(n) % 2, 1.0, -1.0)
    return numbers


def records(X, r, form, lower=-1.0):
    """A data set whose derivatives at weights zero are r, up to rounding of targets at the gate."""
    bounds = Bounds(lower, 1)
    how = {"intercept": lower != -1, "target_bounds": (-1, 1)}
    return Dataset.clip(FORMS[form](X), -r, bounds, **how)


def sums(data):
    columns = compact_columns(data).columns
    found = np.empty(data.n_columns)
    found[columns.order] = columns.sums_at_zero("squared", 1, 1.0)[:, 0]
    return found


def plain(numbers):
    """A plain sum in eight lanes."""
    whole = len(numbers) // LANES * LANES
    lanes = np.add.accumulate(numbers[:whole].reshape(-1, LANES))[-1]
    return lanes.sum() + numbers[whole:].sum()


@pytest.mark.parametrize("form", list(FORMS))
@pytest.mark.parametrize("name", ["small after large", "ladder", "thirds", "waves"])
def test_sums_of_many_records_are_off_by_few_roundings(name, form):
    rng = np.random.default_rng(1)
    X = np.ones((N, 2))
    X[:, 1] = rng.uniform(0.25, 1, N).astype(np.float32)
    data = records(X, terms(name, N), form)
    r = -data.target.astype(np.float32).astype(float)
    found = sums(data)
    for column, sum_ in zip(X.T, found, strict=True):
        products = column * r
        allowed = 4 * UNIT * np.abs(products).sum() + 1e-13
        exact = math.fsum(products)
        assert abs(sum_ - exact) <= allowed
    if name in ("small after large", "ladder"):
        assert abs(plain(r) - math.fsum(r)) > 100 * UNIT * np.abs(r).sum()  # planted


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_centered_sums_do_not_cancel(form):
    """Box [0, 1]: storage and center are summed apart, and their difference is tiny."""
    rng = np.random.default_rng(2)
    r = rng.uniform(0.5, 1, N)
    X = np.full((N, 2), 0.5)
    X[:, 1] = 0.5 + 1e-7 * rng.choice([-1.0, 1.0], N)
    data = records(X, r, form, lower=0.0)
    found = sums(data)
    r = -data.target.astype(np.float32).astype(float)
    total = sum(map(Fraction, r))
    assert abs(found[2] - float(total)) <= 4 * UNIT * N  # the constant column
    entries = (X / data.scale).astype(np.float32).astype(float)
    offsets = data.shift / data.scale
    for column, offset, sum_ in zip(entries.T, offsets, found, strict=False):
        products = column * r
        exact = sum(map(Fraction, products)) - Fraction(offset) * total
        absolute = np.abs(products).sum() + abs(offset) * r.sum()
        assert abs(sum_ - float(exact)) <= 3 * UNIT * absolute + UNIT * abs(float(exact)) + 1e-13


@pytest.mark.parametrize("layout", ["values", "binary", "centered", "many"])
@pytest.mark.parametrize(
    ("loss", "n_outputs"), [("logistic", 1), ("squared", 1), ("multinomial", 3)]
)
def test_sums_do_not_depend_on_how_they_are_computed(loss, n_outputs, layout):
    """Columns of all lengths around lanes, blocks and chunks, to the last bit."""
    rng = np.random.default_rng(3)
    sizes = np.array([*range(10), 31, 32, 33, 63, 64, 65, 255, 256, 257, 300, 520, 599])
    rng.shuffle(sizes)
    n = 70_000 if layout == "many" else 600  # more records than 16 bits can number
    X = np.where(np.arange(600)[:, None] < sizes, rng.uniform(-1, 1, (600, len(sizes))), 0)
    X = np.concatenate([np.zeros((n - 600, len(sizes))), X])
    if layout == "binary":
        X = (X != 0).astype(float)
    y = rng.uniform(-1, 1, n) if loss == "squared" else rng.integers(0, max(2, n_outputs), n)
    how = {"target_bounds": (-1, 1)} if loss == "squared" else {"classes": range(max(2, n_outputs))}
    bounds = Bounds(-0.5, 1) if layout == "centered" else Bounds(-1, 1)
    data = Dataset.clip(csr_array(X), y, bounds, intercept=layout == "centered", **how)
    columns = compact_columns(data).columns
    once = columns.sums_at_zero(loss, n_outputs, 0.4)
    for at_hand in (True, False):
        each = columns.sums_at_zero(loss, n_outputs, 0.4, at_once=False, at_hand=at_hand)
        np.testing.assert_array_equal(once, each)


@pytest.mark.parametrize("form", list(FORMS))
def test_columns_lie_by_norm_and_keep_their_features(form):
    rng = np.random.default_rng(5)
    X = np.where(rng.random((50, 30)) < 0.5, rng.uniform(-1, 1, (50, 30)), 0) * rng.random(30)
    r = rng.uniform(-1, 1, 50)
    data = records(X, r, form)
    columns = compact_columns(data).columns
    norms = np.abs(X).sum(axis=0)
    assert (np.diff(norms[columns.order]) >= 0).all()
    expected = X.astype(np.float32).T.astype(float) @ -data.target
    np.testing.assert_allclose(sums(data), expected, atol=1e-5)


def test_sound_walks_take_the_kernel_with_many_records():
    X, y = np.ones((150_000, 1)), np.arange(150_000) % 2
    data = Dataset.clip(X, y, Bounds(-1, 1), intercept=False)
    steps = np.full(3, 0.5)
    ball = L1Ball(1.0)
    walk = VertexWalk(data, Logistic(), ball, steps, (1,), clip=0.5, bound=None, mode="auto")
    assert walk.compact() is not None

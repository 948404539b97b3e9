"""Coarse sums of the compiled walk: within their bounds, and no change of what is released.

Chi-square tests as in test_lazy.py: seeds are fixed, a test fails below p = 1e-6.
"""

import numpy as np
import pytest

from sparsedp._kernels import COMPILED
from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.solvers.compact import coarse_copy, compact_columns
from tests.numerics.test_lazy import (
    FALSE_ALARM,
    LOSSES,
    N_WALKS,
    STEPS,
    D,
    N,
    brute_force,
    p_values,
    walks,
)

pytestmark = pytest.mark.skipif(not COMPILED, reason="the compiled kernel is not here")
if COMPILED:
    from sparsedp._kernels import lazy as kernel

BOUNDED = {"light_cap": 1e-9, "idle": 0.0, "mode": "lazy"}
PATHS = {
    "looks": BOUNDED | {"first_drift": 50.0, "coarse_anchors": False, "patience": 1e9},
    "anchors": BOUNDED | {"first_drift": 50.0, "coarse_looks": False, "patience": 0.0},
    "both": BOUNDED | {"first_drift": 50.0, "patience": 0.02},
    "table": BOUNDED | {"first_drift": 0.1, "patience": 0.0},
    "neither": BOUNDED | {"first_drift": 50.0, "coarse_looks": False, "coarse_anchors": False},
    "resolved": BOUNDED | {"margin": 0.9, "patience": 0.0},
}


def records(loss, layout):
    """Records in the unit box, or in a box per feature with an intercept; two are constant."""
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, (N, D)) * rng.choice([1.0, 1e-3, 1e-30], D, p=[0.8, 0.1, 0.1])
    X[:, 1], X[:, 2] = 0.0, 0.75
    bounds, intercept = Bounds(-1, 1), False
    if layout == "boxed":
        X = 5 * X + 2
        bounds, intercept = Bounds(X.min(axis=0) - 0.5, X.max(axis=0) + 1.0), True
    k = LOSSES[loss][1]
    how = {"target_bounds": (-1, 1)} if loss == "squared" else {"classes": range(max(k, 2))}
    y = rng.uniform(-1, 1, N) if loss == "squared" else rng.integers(0, max(k, 2), N)
    data = Dataset.clip(X, y, bounds, intercept=intercept, **how)
    return data, data.columns(np.arange(data.n_columns)).astype(np.float32).astype(float)


@pytest.mark.parametrize("laplace", [False, True])
@pytest.mark.parametrize(
    ("loss", "layout"),
    [("logistic", "dense"), ("logistic", "boxed"), ("squared", "dense"), ("multinomial", "boxed")],
)
def test_coarse_paths_have_the_distribution_of_brute_force(loss, layout, laplace):
    data, X = records(loss, layout)
    steps = 2 / (np.arange(STEPS) + 3)
    n_vertices = 2 * X.shape[1] * LOSSES[loss][1]
    expected = brute_force(X, data.target, loss, 0.6, steps, laplace, seed=6)
    for number, (path, how) in enumerate(PATHS.items()):
        n_walks = N_WALKS // 10 if path == "resolved" else N_WALKS // 3
        found, totals = walks(data, loss, 0.6, steps, laplace, 50 + number, n_walks, **how)
        least = min(p_values(found, expected, n_vertices))
        assert least > FALSE_ALARM, (path, least, totals)
        assert (totals["coarse"] > 0) == (path != "neither"), (path, totals)


def columns_of(X):
    """The kernel's columns for any numbers, also such as never come through the gate."""
    n, d = X.shape
    dense = np.ascontiguousarray(X.T, dtype=np.float32).reshape(-1)
    sums, norms = np.abs(X).sum(axis=0), np.sqrt(np.square(X).sum(axis=0))
    sums, norms = (np.nextafter(a.astype(np.float32), np.inf) for a in (sums, norms))
    order = np.arange(d, dtype=np.int32)
    held = (None, None, None, dense, None, np.zeros(n), sums, norms, order)
    return kernel.Columns(n, d, d, *held, *coarse_copy(dense, n))


SIZES = [1, 2, 7, 31, 33, 255, 1023, 1024, 1025, 2049, 6001]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("scale", [1e-43, 1e-38, 1e-20, 1.0, 1e15, 1e30])
def test_coarse_sums_are_within_their_bounds(n, scale):
    """Also where rounding is as bad as it gets, and where whole numbers are at their largest."""
    rng = np.random.default_rng(n)
    X = rng.uniform(-1, 1, (n, 12))
    X[:, 0] = 1.0
    X[:, 1] = rng.choice([-1.0, 1.0], n)
    X[:, 2] = 0.0
    X[:, 3] *= 1e-44  # subnormal
    X[:, 4] *= 2.0**-130
    X[:, 5] = (np.arange(n) % 127 + 0.5) / 127 * 0.999  # half a step from every byte
    X[0, 6] = 1e-30
    X[1:, 6] = 1e-38
    X[:, 7] = np.where(np.arange(n) == n // 2, 1.0, 1 / 255)  # all but one vanish
    X = X.astype(np.float32).astype(float)
    columns = columns_of(X)
    derivatives = {
        "any": (rng.uniform(-1, 1, n), rng.uniform(-1, 1, n)),
        "extreme": (np.full(n, -1.0), np.full(n, 1.0)),
        "extreme signs": (np.full(n, -1.0), X[:, 1]),
        "none": (np.full(n, 0.5), np.full(n, 0.5)),
        "one large": (np.zeros(n), np.where(np.arange(n) == 0, 1.0, 1e-5)),
        "halves": (np.zeros(n), (np.arange(n) % 1000 + 0.5) * 2.0**-14),
        "along the rest": (np.zeros(n), np.sign(X[:, 5] - np.rint(X[:, 5] * 127) / 127)),
    }
    for name, pair in derivatives.items():
        base, r = ((scale * values).astype(np.float32) for values in pair)
        change = r.astype(float) - base
        found, errors = columns.coarse_sums(base, r)
        products = X.T.astype(np.longdouble) * change  # exact, or nearly
        exact = products.sum(axis=1)
        rounding = 1e-19 * n * np.abs(products).sum(axis=1)  # of this sum, not of the coarse one
        assert (np.abs(found - exact) <= errors + rounding).all(), name
        assert (errors >= 0).all()
        if scale == 1.0 and name == "any" and n >= 1024:
            # Not vacuous: below a hundredth of what a sum can be.
            assert (errors[:2] < 0.01 * np.abs(X[:, :2].T) @ np.abs(change)).all()


def test_the_bound_is_needed():
    """Derivatives along what bytes leave out move coarse sums by half of the bound or more."""
    X = ((np.arange(6000) % 127 + 0.5) / 127 * 0.999).astype(np.float32).astype(float)[:, None]
    X[0] = 1.0
    columns = columns_of(X)
    step = np.float32(1.0) / np.float32(127)
    rest = X[:, 0] - float(step) * np.rint(X[:, 0] / float(step))
    r = (rest / np.abs(rest).max()).astype(np.float32)
    found, errors = columns.coarse_sums(np.zeros_like(r), r)
    assert abs(found[0] - X[:, 0] @ r.astype(float)) > 0.5 * errors[0]


def test_a_coarse_copy_takes_a_byte_for_an_entry():
    data, _ = records("logistic", "dense")
    assert 5 * N * D < compact_columns(data).n_bytes < 5 * N * D + 8 * N + 64 * D

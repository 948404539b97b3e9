"""Selections along a walk against brute force, and through the door of a solver.

Each chi-square test compares the vertices of one step, or of two consecutive steps, with those of
the plain loop written in NumPy. Seeds are fixed; a test fails below p = 1e-8, so that all of them
together raise a false alarm less than once in 1e6. Exact laws of short walks: test_walk.py.
"""

import threading
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array
from scipy.special import expit, softmax
from scipy.stats import chi2

from sparsedp._kernels import COMPILED
from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.losses import Logistic, Multinomial, Squared
from sparsedp.mechanisms import KeyStream
from sparsedp.mechanisms.samplers.exact import is_below
from sparsedp.privacy import PublicFacts
from sparsedp.solvers import FrankWolfe
from sparsedp.solvers.frank_wolfe.compact import compact_columns
from tests.solved import solved

pytestmark = pytest.mark.skipif(not COMPILED, reason="the compiled kernel is not here")
if COMPILED:
    from sparsedp._kernels.walk import kernel

N_WALKS = 3_000
N, D, STEPS, BOUND, RADIUS = 60, 12, 5, 0.5, 3.0
FALSE_ALARM = 1e-8
LOSSES = {
    "logistic": (Logistic(), 1),
    "squared": (Squared(), 1),
    "multinomial": (Multinomial(3), 3),
}
PATHS = {
    "auto": {},
    "full": {"mode": "full"},
    "capped": {"idle": 50.0, "mode": "lazy"},
    "members": {"idle": 0.0, "first_horizon": 1e5, "mode": "lazy"},
}


def table(loss, layout, seed=1):
    """Records of the test: sparse values, zeros and ones, or dense; with an intercept or not."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((N, D)) < 0.4, rng.uniform(-1, 1, (N, D)), 0)
    X[:, 0] = 0  # an empty column
    if layout == "binary":
        X = (X != 0).astype(float)
    if loss == "squared":
        y, how = np.clip(rng.normal(size=N), -1, 1), {"target_bounds": (-1, 1)}
    else:
        y = rng.integers(0, LOSSES[loss][1] if loss == "multinomial" else 2, N)
        how = {"classes": range(3) if loss == "multinomial" else (0, 1)}
    storage = {"dense": X, "csc": csc_array(X)}.get(layout, csr_array(X))
    bounds = Bounds(0, 1) if layout == "shifted" else Bounds(-1, 1)
    intercept = layout in ("constant", "shifted")
    data = Dataset.clip(storage, y, bounds, intercept=intercept, **how)
    seen = data.columns(np.arange(data.n_columns))
    # The kernel rounds features.
    return data, np.rint(seen * 2**14) * 2.0**-14


def brute_force(X, y, loss, steepness, steps, laplace, seed):
    """All walks at once, every score in every step, with Gumbel or Laplace noise."""
    rng = np.random.default_rng(seed)
    k = LOSSES[loss][1]
    d = X.shape[1]
    w = np.zeros((N_WALKS, d, k))
    chosen = np.empty((N_WALKS, len(steps)), dtype=np.int64)
    for t, step in enumerate(steps):
        margins = np.einsum("wdk,nd->wkn", w, X, optimize=True)
        if loss == "logistic":
            r = np.clip(expit(margins) - y, -BOUND, BOUND)
        elif loss == "squared":
            r = np.clip(margins - y, -BOUND, BOUND)
        else:
            r = softmax(margins, axis=1) - (np.arange(k)[:, None] == y)
            r *= np.minimum(1, BOUND / np.abs(r).max(axis=1, keepdims=True))
        scores = -steepness * np.einsum("wkn,nd->wdk", r, X, optimize=True).reshape(N_WALKS, -1)
        scores = np.concatenate([scores, -scores], axis=1)
        noise = rng.laplace(size=scores.shape) if laplace else rng.gumbel(size=scores.shape)
        chosen[:, t] = vertex = (scores + noise).argmax(axis=1)
        w *= 1 - step
        signs = np.where(vertex < d * k, RADIUS, -RADIUS)
        w.reshape(N_WALKS, -1)[np.arange(N_WALKS), vertex % (d * k)] += step * signs
    return chosen


def walks(data, loss, steepness, steps, laplace, seed, n_walks, **how):
    """The same from the kernel."""
    stream = KeyStream.from_seed(seed)
    k = LOSSES[loss][1]
    compact = compact_columns(data)
    rate = Fraction(steepness) * Fraction(BOUND) / 2**28

    def settle(word, gap, octaves, weight):
        return is_below(word, rate * gap, Fraction(2**octaves, weight), stream)

    chosen = np.empty((n_walks, len(steps)), dtype=np.int64)
    start = compact.start(loss, k, BOUND)
    for i in range(n_walks):
        chosen[i], _ = kernel.walk(
            compact.columns,
            loss,
            start,
            k,
            BOUND,
            RADIUS,
            steps,
            float(rate),
            lambda: stream.words(256),
            settle,
            laplace=laplace,
            **how,
        )
    return chosen


def p_value(one, other):
    """Chi-square test of two samples of labels for the same distribution."""
    labels, places = np.unique(np.concatenate([one, other]), return_inverse=True)
    counts = np.array(
        [np.bincount(part, minlength=len(labels)) for part in np.split(places, [len(one)])]
    )
    rare = counts.sum(axis=0) < 20
    counts = np.column_stack([counts[:, ~rare], counts[:, rare].sum(axis=1)])
    counts = counts[:, counts.sum(axis=0) > 0]
    if counts.shape[1] < 2:
        return 1.0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    return float(chi2.sf(((counts - expected) ** 2 / expected).sum(), counts.shape[1] - 1))


def p_values(one, other, n_vertices):
    """Vertices by step, and pairs of consecutive ones."""
    steps = [p_value(a, b) for a, b in zip(one.T, other.T, strict=True)]
    pairs = [one[:, :-1] * n_vertices + one[:, 1:], other[:, :-1] * n_vertices + other[:, 1:]]
    return steps + [p_value(a, b) for a, b in zip(pairs[0].T, pairs[1].T, strict=True)]


CASES = [
    (loss, layout, laplace)
    for i, (loss, layout) in enumerate(
        (
            ("logistic", "sparse"),
            ("logistic", "dense"),
            ("logistic", "constant"),
            ("logistic", "shifted"),
            ("squared", "csc"),
            ("multinomial", "sparse"),
        )
    )
    for laplace in ((False, True) if i < 1 else (i % 2 == 0,))
]


@pytest.mark.parametrize(("loss", "layout", "laplace"), CASES)
def test_every_path_has_the_distribution_of_brute_force(loss, layout, laplace):
    data, X = table(loss, layout)
    steps = 2 / (np.arange(STEPS) + 3) if laplace else 1 / (np.arange(STEPS) + 2)
    n_vertices = 2 * X.shape[1] * LOSSES[loss][1]
    steepness = 0.6
    expected = brute_force(X, data.target, loss, steepness, steps, laplace, seed=3)
    for number, (path, how) in enumerate(PATHS.items()):
        found = walks(data, loss, steepness, steps, laplace, number, N_WALKS // 3, **how)
        least = min(p_values(found, expected, n_vertices))
        assert least > FALSE_ALARM, (path, least)


def fitted(data, solver, seed):
    public = PublicFacts(
        n_features=D,
        n_nonzero=3,
        n_outputs=1,
        intercept=data.intercept,
        neighbors="add_remove",
        n_records=None,
    )
    how = {"epsilon": 5.0, "delta": 1e-4, "seed": seed}
    return solved(solver, data, Logistic(), public, **how).weights


def test_threads_give_what_one_thread_gives():
    data, _ = table("logistic", "sparse")
    solver = FrankWolfe(radius=3.0, n_steps=200)
    alone = [fitted(data, solver, seed) for seed in range(4)]
    together = [None] * 4

    def work(seed):
        together[seed] = fitted(data, solver, seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(alone, together)


def test_whole_fits_agree_with_the_plain_loop(monkeypatch):
    """Means of the weights of 200 fits each; 8 standard errors for 3 x 13 weights: below 1e-6."""
    data, _ = table("logistic", "constant")
    fits = {
        mode: np.array(
            [fitted(data, FrankWolfe(radius=3.0, n_steps=30, mode=mode), s) for s in range(200)]
        )
        for mode in ("auto", "lazy", "full")
    }
    monkeypatch.setattr(
        "sparsedp.solvers.frank_wolfe.vertex_walk.compact_columns", lambda data: None
    )
    solver = FrankWolfe(radius=3.0, n_steps=30)
    plain = np.array([fitted(data, solver, 1000 + seed) for seed in range(200)])
    for fast in fits.values():
        error = np.sqrt((fast.var(axis=0) + plain.var(axis=0)) / 200) + 1e-12
        assert (np.abs(fast.mean(axis=0) - plain.mean(axis=0)) < 8 * error).all()


@pytest.mark.parametrize("mode", ["auto", "lazy", "full"])
@pytest.mark.parametrize("steepness", [3.0, 1e3, 3e7])
@pytest.mark.parametrize("layout", [csr_array, np.asarray])
@pytest.mark.parametrize("laplace", [False, True])
def test_steep_scores_of_unlike_columns_are_found(mode, steepness, layout, laplace):
    """Weights that differ by more than doubles can hold, and groups of columns that are empty.

    A score that is 40 noise scales behind is chosen with a probability below 1e-15 (seed 1);
    rounding of derivatives moves scores by less than 4000 * 2^-15 * 0.5 = 0.062.
    """
    random = np.random.default_rng(5)
    n_entries = [3, 30, 300, 2000, 3900]
    X = np.column_stack([np.arange(4000) < size for size in n_entries]).astype(float)
    y = (random.random(4000) < np.where(X[:, 2] > 0, 0.9, 0.5)).astype(int)
    data = Dataset.clip(layout(X), y, Bounds(0, 1), intercept=True, classes=(0, 1))
    seen = data.columns(np.arange(data.n_columns))
    steps = 2 / (np.arange(30) + 3)
    (chosen,) = walks(data, "logistic", steepness, steps, laplace, 1, 1, mode=mode)
    weights = np.zeros(data.n_columns)
    for vertex, step in zip(chosen, steps, strict=True):
        scores = -seen.T @ np.clip(expit(seen @ weights) - y, -BOUND, BOUND)
        entry, sign = vertex % len(weights), 1 if vertex < len(weights) else -1
        assert sign * scores[entry] >= np.abs(scores).max() - 40 / steepness - 0.125
        weights *= 1 - step
        weights[entry] += step * sign * RADIUS


def test_modes_are_checked():
    with pytest.raises(ValueError, match="mode"):
        FrankWolfe(mode="quick")

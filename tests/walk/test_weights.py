"""Weights of records in the kernel: all rows of a person move scores as one record does."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from sparsedp._kernels import COMPILED
from sparsedp._kernels.walk import reference
from sparsedp._kernels.walk.records import ONE, WHOLE_WEIGHT
from sparsedp.mechanisms import KeyStream
from sparsedp.solvers.frank_wolfe.compact import whole_weights
from tests.walk import walks
from tests.walk.walks import PATHS, Case, cases, shares

CASES = cases()
KERNELS = [reference]
if COMPILED:
    from sparsedp._kernels.walk import checked, kernel

    KERNELS.append(kernel)
needs_compiler = pytest.mark.skipif(not COMPILED, reason="the compiled kernel is not here")


def scores(kernel, case, layout, vertices):
    """Before each step of a walk to these vertices."""
    setting = case.loss, case.n_outputs, case.bound, case.radius, case.steps, np.array(vertices)
    return kernel.scores_along(case.records(layout), *setting)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", ["random", "squared", "multinomial", "centered"])
@pytest.mark.parametrize("layout", ["sparse", "dense"])
def test_scores_are_sums_of_truncated_shares(kernel, name, layout):
    """Each record by itself without a weight, its derivative times the weight in fractions."""
    case = CASES[name]
    n = len(case.X)
    weights = np.random.default_rng(2).integers(0, WHOLE_WEIGHT + 1, n)
    weights[:4] = 0, 1, WHOLE_WEIGHT - 1, WHOLE_WEIGHT
    constant = np.ones((n, 1))  # its score is minus the derivative, in units of ONE
    X = np.column_stack([case.X, constant])
    weighted = replace(case, X=X, weights=weights / WHOLE_WEIGHT)
    size = (X.shape[1] + case.intercept) * case.n_outputs
    vertices = [1, size + 2, 0]
    expected = np.zeros((3, size), dtype=object)
    for i in range(n):
        alone = scores(
            reference, replace(case, X=X[i : i + 1], y=case.y[i : i + 1]), layout, vertices
        )
        alone = alone.reshape(3, -1, case.n_outputs)
        entries, derivatives = alone, alone[:, [X.shape[1] - 1]] // ONE
        share = np.vectorize(lambda r, k=int(weights[i]): math.trunc(Fraction(k * int(r), 2**30)))
        # An entry times a derivative, over the derivative: zero where that is zero.
        whole = np.where(derivatives == 0, 0, entries // np.where(derivatives == 0, 1, derivatives))
        expected += (whole * share(derivatives)).reshape(3, -1)
    np.testing.assert_array_equal(scores(kernel, weighted, layout, vertices), expected)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("layout", ["sparse", "dense"])
@pytest.mark.parametrize("n_rows", [1, 2, 3, 5, 1000, 16_385, 32_767])
def test_all_rows_of_a_person_move_a_score_by_no_more_than_one_record(kernel, layout, n_rows):
    """At corners. To the nearest, 32,767 rows would move it by twice what is declared."""
    sign = np.where(np.arange(n_rows) % 2, -1.0, 1.0)
    X = np.column_stack([np.ones(n_rows), sign, np.where(sign > 0, 1.0, 0.0)])
    for y, weights in (
        (np.ones(n_rows, dtype=int), shares(np.array([n_rows]))),
        ((sign > 0).astype(int), shares(np.array([n_rows]))),
        ((sign > 0).astype(int), np.full(n_rows, 1 / n_rows) * 0.999),
    ):
        case = Case(X, y, bound=0.5, radius=20.0, weights=weights)
        for vertices in ([0, 1, 2], [3, 4, 5], [1, 3, 1]):
            found = np.abs(scores(kernel, case, layout, vertices))
            assert found.max() <= ONE**2
            # Truncation takes less than a unit from each derivative.
            assert vertices != [0, 1, 2] or found[0].max() >= ONE**2 * 0.998 - n_rows * ONE


@needs_compiler
@pytest.mark.parametrize("name", ["random", "squared", "multinomial", "centered"])
def test_whole_weights_change_nothing(name):
    """Not a bit of the choices, nor how they were come by."""
    case, rate = CASES[name], walks.rate_of(CASES[name], 2.0)
    for layout in ("sparse", "dense"):
        found = []
        for weights in (None, np.ones(len(case.X))):
            records = replace(case, weights=weights).records(layout)
            start = kernel.scores_at_zero(records, case.loss, case.n_outputs, case.bound)
            for seed, path in enumerate(PATHS.values()):
                stream = KeyStream.from_seed(seed)
                chosen, counters = walks.walk(kernel, case, records, start, rate, stream, **path)
                found.append((chosen.tolist(), counters))
        assert found[: len(PATHS)] == found[len(PATHS) :]


@needs_compiler
def test_records_without_weight_are_as_if_they_were_not_there():
    case = CASES["persons, multinomial"]
    kept = case.weights > 0
    fewer = replace(case, X=case.X[kept], y=case.y[kept], weights=case.weights[kept])
    vertices = [1, 8, 3]
    for layout in ("sparse", "dense"):
        some, every = (scores(kernel, one, layout, vertices) for one in (fewer, case))
        np.testing.assert_array_equal(some, every)


@needs_compiler
def test_caps_hold_where_they_are_reached():
    """Every derivative at its end: scores equal the caps, which levels are built from."""
    X = np.random.default_rng(3).choice([-1.0, 0.0, 1.0], (90, 4))
    weights = shares(np.repeat([2, 3, 4], 10))
    for column in range(4):
        y = (X[:, column] > 0).astype(int)
        case = Case(np.where(X == 0, 0.25, X), y, weights=weights, bound=0.5)
        for layout in ("sparse", "dense"):
            records = case.records(layout)
            start = checked.scores_at_zero(records, case.loss, 1, case.bound)
            found = records.by_feature(start, 1)[column]
            signed = case.X[:, column] * np.where(y == 1, 1, -1)
            largest = whole_weights(weights).astype(np.int64) >> 16
            assert found == int((np.rint(signed * ONE).astype(np.int64) * largest).sum())
            at = int(np.flatnonzero(records.order == column)[0])
            assert (np.abs(start) <= records.cap).all()
            assert records.cap[at] == int(
                (np.rint(np.abs(case.X[:, column]) * ONE).astype(np.int64) * largest).sum()
            )


def test_weights_are_clipped_and_rounded_down():
    hostile = np.array([np.nan, np.inf, -np.inf, 2.0, -0.5, 1.0, 1 - 2.0**-31, 2.0**-31, 0.75])
    whole = WHOLE_WEIGHT
    expected = [0, whole, 0, whole, 0, whole, whole - 1, 0, 3 * whole // 4]
    assert whole_weights(hostile).tolist() == expected


@pytest.mark.parametrize(
    "weights",
    [
        np.full(60, -1, dtype=np.int32),
        np.full(60, WHOLE_WEIGHT + 1, dtype=np.int32),
        np.full(59, 1, dtype=np.int32),
        np.full(60, 1.0),
    ],
)
def test_what_is_not_a_weight_is_refused(weights):
    with pytest.raises(ValueError, match="weights"):
        replace(CASES["random"].records("dense"), weights=weights)

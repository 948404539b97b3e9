"""Derivatives record by record: both kernels to the last bit, and against the exact function."""

import math

import numpy as np
import pytest
from scipy.special import expit, softmax

from sparsedp._kernels import COMPILED
from sparsedp._kernels.sums import slopes_reference
from sparsedp.losses import Multinomial
from sparsedp.solvers import clipping

MARGINS = np.concatenate(
    [
        *(
            scale * np.random.default_rng(0).normal(size=5_003)
            for scale in (1e-9, 1e-3, 1, 20, 300)
        ),
        [0.0, -0.0, 1e-320, 708.0, -708.0, 709.0, -745.2, 1e308, -1e308, math.inf, -math.inf],
        np.arange(-1022, 1022) * math.log(2) / 2,
    ]
)


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
@pytest.mark.parametrize("n", [0, 1, 3, 8, 29, len(MARGINS)])
def test_kernels_agree_to_the_last_bit(n):
    from sparsedp._kernels.sums import slopes

    rng = np.random.default_rng(1)
    margins, target = MARGINS[-n:] if n else MARGINS[:0], (rng.random(n) < 0.4).astype(float)
    found, expected = np.empty(n), np.empty(n)
    slopes.logistic(margins, target, found)
    slopes_reference.logistic(margins, target, expected)
    np.testing.assert_array_equal(found, expected)
    lengths, squares, expected_squares = rng.uniform(0, 5, n), np.empty(n), np.empty(n)
    slopes.shrink(found, lengths, 0.7, squares)
    slopes_reference.shrink(expected, lengths, 0.7, expected_squares)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(squares, expected_squares)


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
@pytest.mark.parametrize(("n", "k"), [(0, 3), (1, 2), (7, 3), (1001, 8), (300, 41)])
def test_multinomial_kernels_agree_to_the_last_bit(n, k):
    from sparsedp._kernels.sums import slopes

    rng = np.random.default_rng(n + k)
    margins = rng.choice(MARGINS, size=(n, k))
    margins[n // 2 :] = rng.normal(size=(n - n // 2, k)) * 10
    target = rng.integers(0, k, n)
    found, expected = np.empty((n, k)), np.empty((n, k))
    slopes.multinomial(margins, target, found)
    slopes_reference.multinomial(margins, target, expected)
    np.testing.assert_array_equal(found, expected)
    lengths, squares, again = rng.uniform(0, 5, n), np.empty(n), np.empty(n)
    for bound in (0.7, math.inf):
        one, other = found.copy(), found.copy()
        slopes.shrink_whole(one, lengths, bound, squares)
        slopes_reference.shrink_whole(other, lengths, bound, again)
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(squares, again)
        one, other = found.copy(), found.copy()
        slopes.limit_whole(one, bound)
        slopes_reference.limit_whole(other, bound)
        np.testing.assert_array_equal(one, other)


def test_multinomial_derivatives_depend_on_the_record_alone():
    """To the last bit, wherever the record stands; and they are right."""
    rng = np.random.default_rng(4)
    margins, target = 9 * rng.normal(size=(257, 11)), rng.integers(0, 11, 257)
    whole = Multinomial(11).residual(margins, target)
    for rows in (slice(0, 1), slice(3, 6), slice(100, 257), slice(None, None, -1), [5, 200, 7]):
        alone = Multinomial(11).residual(margins[rows], target[rows])
        assert alone.tobytes() == np.ascontiguousarray(whole[rows]).tobytes()
    exact = softmax(margins, axis=1)
    exact[np.arange(257), target] -= 1
    np.testing.assert_allclose(whole, exact, atol=1e-15)
    limited = Multinomial(11).clipped(whole.copy(), 0.3)
    assert np.abs(limited).max() <= 0.3
    np.testing.assert_allclose(limited.sum(axis=1), 0, atol=1e-15)


def test_probabilities_are_right_to_a_few_units_in_the_last_place():
    p = np.empty_like(MARGINS)
    slopes_reference.logistic(MARGINS, np.zeros_like(MARGINS), p)
    exact = expit(np.clip(MARGINS, -708, 708))
    assert (np.abs(p - exact) / np.spacing(exact)).max() <= 4
    assert ((p >= 0) & (p <= 1)).all()


@pytest.mark.parametrize("shape", [(400,), (400, 1), (400, 3)])
def test_no_record_uses_more_than_the_bound(shape):
    rng = np.random.default_rng(2)
    slopes, lengths = rng.normal(size=shape), rng.uniform(0, 4, 400)
    lengths[::7] = 0
    before = slopes.copy().reshape(400, -1)
    shrunk, squares = clipping.shrink(slopes, lengths, 1.5)
    assert shrunk.shape == shape
    after = shrunk.reshape(400, -1)
    norms = np.linalg.norm(before, axis=1) * lengths / 1.5
    np.testing.assert_allclose(after, before / np.maximum(norms, 1)[:, None], rtol=1e-14)
    np.testing.assert_allclose(squares, np.minimum(norms, 1) ** 2, rtol=1e-14)
    assert (np.linalg.norm(after, axis=1) * lengths <= 1.5 * (1 + 2.0**-50)).all()
    free, squares = clipping.shrink(before.copy(), lengths, math.inf)
    np.testing.assert_array_equal(free, before)
    assert (squares == 0).all()

"""The line closest to a clipped model: no line is closer, and its distance is attained."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from sparsedp.data.interaction import Interaction
from sparsedp.data.linear_form import linear_form, narrowed
from sparsedp.data.predict import linear_predictor


def box(random, d):
    """Declared limits, and clip bounds within them that may touch them."""
    below, above = random.exponential(size=(2, d)) * random.integers(0, 2, size=(2, d))
    lower = random.normal(size=d)
    upper = lower + random.exponential(size=d)
    return (lower, upper), (lower - below, upper + above)


@pytest.mark.parametrize("seed", range(40))
def test_no_line_is_closer(seed):
    random = np.random.default_rng(seed)
    clip, declared = box(random, 1)
    coef = random.normal(size=(1, 1))
    form = linear_form(coef, np.zeros(1), clip, declared)
    x = np.concatenate([*clip, *declared])  # a broken line is farthest from a line at its kinks
    y = coef[0, 0] * np.clip(x, *clip)
    one = np.ones_like(x)
    best = linprog(  # least e with |y - s x - b| <= e
        [0, 0, 1],
        A_ub=np.vstack([np.c_[-x, -one, -one], np.c_[x, one, -one]]),
        b_ub=np.r_[-y, y],
        bounds=[(None, None), (None, None), (0, None)],
    )
    assert form.largest_difference == pytest.approx(best.fun, abs=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_the_largest_difference_is_attained_both_ways_at_corners_and_kinks(seed):
    random = np.random.default_rng(seed)
    clip, declared = box(random, 4)
    coef, intercept = random.normal(size=(2, 4)), random.normal(size=2)
    form = linear_form(coef, intercept, clip, declared)
    X = np.array(list(itertools.product(*np.transpose([*clip, *declared]))))
    difference = np.clip(X, *clip) @ coef.T + intercept - X @ form.coef.T - form.intercept
    np.testing.assert_allclose(difference.max(axis=0), -difference.min(axis=0), atol=1e-12)
    assert np.abs(difference).max() == pytest.approx(form.largest_difference, abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_with_pairs_the_distance_is_bounded_from_both_sides(seed):
    """No line is closer than the heaviest pair, and that of the model not farther than stated."""
    random = np.random.default_rng(seed)
    clip, declared = box(random, 3)
    coef, pairs = random.normal(size=(1, 3)), ((0, 1), (0, 2), (1, 2))[: 1 + seed % 3]
    joined = [Interaction(i, j, random.normal(size=1)) for i, j in pairs]
    form = linear_form(coef, np.zeros(1), clip, declared, (), joined)
    X = np.array(list(itertools.product(*np.transpose([*clip, *declared]))))
    y = linear_predictor(X, coef, np.zeros(1), *clip, None, (), joined)[:, 0]
    one = np.ones_like(y)
    best = linprog(
        [0, 0, 0, 0, 1],
        A_ub=np.vstack([np.c_[-X, -one, -one], np.c_[X, one, -one]]),
        b_ub=np.r_[-y, y],
        bounds=[(None, None)] * 4 + [(0, None)],
    )
    assert best.fun >= max(abs(each.weights[0]) for each in joined) - 1e-9
    off = np.abs(y - X @ form.coef[0] - form.intercept).max()
    assert best.fun - 1e-9 <= off <= form.largest_difference + 1e-12
    plain = linear_form(coef, np.zeros(1), clip, declared)
    np.testing.assert_array_equal(form.coef, plain.coef)
    alone = linear_form(0 * coef, np.zeros(1), clip, declared, (), joined[:1])
    assert (alone.coef.any(), alone.largest_difference) == (False, abs(joined[0].weights[0]))


def test_what_was_not_tightened_or_is_not_used_is_left_alone():
    declared = np.array([0.0, -1.0, 5.0]), np.array([1.0, 1.0, 6.0])
    clip = np.array([0.0, -0.5, 5.0]), np.array([1.0, 1.0, 6.0])
    coef, intercept = np.array([[2.0, 0.0, 3.0]]), np.array([1.0])
    form = linear_form(coef, intercept, clip, declared)
    assert narrowed(coef, clip, declared).tolist() == []
    assert form.coef is coef
    assert form.intercept is intercept
    assert form.largest_difference == 0
    assert narrowed(coef + 1, clip, declared).tolist() == [1]

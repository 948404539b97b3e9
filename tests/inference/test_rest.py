"""Weights without a best value: features of two values that nobody declared as such."""

from dataclasses import replace

import numpy as np
from scipy.special import expit

from sparsedp.solvers.pursuit.inference.coordinates import Coordinates
from sparsedp.solvers.pursuit.inference.rest import Rest
from tests.inference.test_intervals import classifier


def coordinates(X, deviation=0.0):
    """As released without noise, whitening nothing."""
    Z = np.column_stack([np.ones(len(X)), X])
    gram, p = Z.T @ Z / len(Z), Z.shape[1]
    return Z, Coordinates(
        np.eye(p), np.eye(p), np.diag(gram), gram[0], float(p) ** 0.5, gram, deviation
    )


def features(n=2000):
    """Two of two values that go together, one of them rare; an even one; one with a long tail."""
    random = np.random.default_rng(2)
    first = np.where(random.random(n) < 0.05, 1.0, -1.0)
    second = np.where(random.random(n) < 0.3, first, np.where(random.random(n) < 0.5, 1.0, -1.0))
    tail = np.minimum(random.exponential(0.1, n), 2) - 1
    return np.column_stack([first, second, random.uniform(-1, 1, n), tail])


def test_features_of_two_values_are_known_by_their_squares():
    _, found = coordinates(features())
    assert found.two_valued().tolist() == [False, True, True, False, False]
    # Noise is no reason to believe that there is something between.
    noisy = replace(found, gram=found.gram - 0.05 * np.eye(5))
    assert not noisy.two_valued()[1]
    assert replace(noisy, deviation=0.03).two_valued()[1]


def test_mean_margins_of_those_with_a_value_are_exact():
    X = features()
    Z, found = coordinates(X)
    for weights in ([0.3, 2.0, -1.0, 0.5, 0.2], [-1.0, -0.7, 0.4, 0.0, 1.0]):
        margins, told = Z @ weights, found.farthest(np.array(weights))
        for j in (1, 2):
            sign = np.sign(weights[j])
            ends = [sign * end * margins[Z[:, j] == end].mean() for end in (1, -1)]
            np.testing.assert_allclose(told[j], max(ends), rtol=1e-9)


def test_only_those_who_are_far_out_may_be_told_apart():
    _, found = coordinates(features())
    step = np.array([0.0, 0.1, 0.1, 0.1, 0.1])
    noise = 0.1**2 * np.eye(5)
    nobody = np.zeros(4, dtype=bool)

    def moving(weights):
        return Rest(found, np.array(weights), step, noise).moving(nobody).tolist()

    assert moving([0.0, 2.0, 0.0, 2.0, 2.0]) == [False, True, False, False, False]
    # A short effect, those who have a value in doubt, and a step that goes back.
    assert not any(moving([3.0, 0.9, 0.0, 2.0, 2.0]))
    assert not any(moving([0.0, 1.2, 0.0, 0.0, 0.0]))
    assert not any(moving([0.0, -2.0, 0.0, 0.0, 0.0]))
    declared = np.array([False, False, False, True])
    far = Rest(found, np.array([0.0, 0.0, 0.0, 0.0, 3.0]), step, noise)
    assert far.moving(declared).tolist() == [False, False, False, False, True]


def test_a_value_that_all_have_one_label_has_no_interval_undeclared():
    # Without the rule 7 of these 15 fits show one, and it is false: the weight is infinite.
    shown = np.zeros(12)
    for seed in range(15):
        random = np.random.default_rng(seed)
        X = np.where(random.random((10_000, 12)) < 0.3, 1.0, -1.0)
        X[:, 0] = np.where(random.random(len(X)) < 0.1, 1.0, -1.0)
        X[:, 6:] = np.clip(0.4 * random.normal(size=(len(X), 6)), -1, 1)
        margins = 0.6 * X[:, 1] - 0.8 * X[:, 2] + X[:, 6] - 1.2 * X[:, 7] - 0.5
        y = np.where(X[:, 0] == 1, 1, random.random(len(X)) < expit(margins))
        fitted = classifier(bounds=1.0, epsilon=1.0, random_state=seed).fit(X, y)
        shown += ~np.isnan(fitted.intervals_[:, 0])
    assert shown[0] == 0
    assert shown[1:].mean() > 12

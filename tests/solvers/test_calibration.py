"""Honest probabilities: what looks see, what they cost, and that models of nothing do no harm."""

from dataclasses import astuple
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from scipy.special import expit, softmax
from scipy.stats import t as student

from sparsedp import Bounds, SparseLogisticRegression
from sparsedp.data.dataset import Dataset
from sparsedp.losses import Multinomial
from sparsedp.solvers.pursuit.calibration.looks import (
    OF_MORE_CLASSES,
    Calibration,
    Center,
    Moved,
    Spread,
)
from sparsedp.solvers.pursuit.calibration.many_classes import (
    LEAST_SIGNAL,
    ManyClassLaw,
    drawn,
    leaning,
)
from sparsedp.solvers.pursuit.calibration.margins import Margins
from sparsedp.solvers.pursuit.calibration.two_classes import (
    RAREST,
    TwoClassLaw,
    level,
    likely_share,
    mean_prediction,
)
from sparsedp.solvers.pursuit.moments import Moments
from sparsedp.solvers.pursuit.plan import BOX, ROWS, TOGETHER
from sparsedp.solvers.pursuit.records import (
    LabelLoss,
    LookSums,
    Whiten,
    Widen,
    no_features,
    targets_of,
)
from tests.cases import LOSSES
from tests.effects.test_offsets import LIMITS, dataset


@pytest.mark.parametrize("shares", [BOX, TOGETHER, ROWS])
@pytest.mark.parametrize("signal", [0.0, 1e-200, 1.0, 8.0, 30.0, 1e9, np.inf])
def test_what_calibration_gets_the_steps_lose(shares, signal):
    found = shares.honest(signal)
    assert sum(astuple(found)) == pytest.approx(sum(astuple(shares)), rel=1e-12)
    assert min(astuple(found)) >= 0
    assert found.calibration >= shares.calibration
    steps = [s.gram + s.middle + s.fit for s in (found, shares)]
    assert steps[0] >= 0.5 * steps[1] * (1 - 1e-12)
    if signal >= 30:
        assert found == shares
    if signal <= 1:
        assert found.calibration > 2 * shares.calibration


def test_a_look_moves_margins_and_leaves_offsets_alone():
    random = np.random.default_rng(3)
    n = 40
    X, y = random.uniform(-1, 1, size=(n, 6)), random.integers(0, 2, n)
    offset = random.uniform(*LIMITS, n)
    data = dataset("logistic", X, y, offset)
    chosen = data.derive(no_features).derive(Whiten.to(np.eye(1)), data.derive(targets_of))
    center, shift, factor, reach = 0.3, -0.4, 1.7, 2.0
    moving = np.array([center]), np.array([shift]), factor, reach
    sums = LookSums(LabelLoss(LOSSES["logistic"]), np.array([[1.1]]), *moving)
    found = chosen.total(sums)
    # Solvers see offsets about the middle of their limits.
    p = expit(center + shift + factor * (1.1 - center) + offset - np.mean(LIMITS))
    height = (1.1 - center) / reach
    r = np.sum(p - y)
    np.testing.assert_allclose(found, [r, r * height], rtol=1e-12)


def test_two_records_move_a_look_at_several_classes_by_all_that_is_declared():
    """One is told the class of the other, by margins that lie in the same direction."""
    weights, shift = np.array([[0, 0, 0], [1e3, -1e3, 0.0]]), np.array([-300.0, 300.0, -300.0])
    sums, looks = LookSums(LabelLoss(Multinomial(3)), weights, np.zeros(3), shift, 1.0, 1.0), []
    for x, label in ((1.0, 1), (0.05, 0)):
        data = Dataset.clip(np.array([[x]]), np.array([label]), Bounds(-1, 1), classes=range(3))
        columns = data.derive(Widen(np.arange(1)), data.derive(no_features))
        chosen = columns.derive(Whiten.to(np.eye(2)), data.derive(targets_of))
        looks.append(chosen.total(sums))
    assert np.linalg.norm(looks[0]) == pytest.approx(OF_MORE_CLASSES, rel=1e-6)
    assert np.linalg.norm(looks[1] - looks[0]) == pytest.approx(2 * OF_MORE_CLASSES, rel=1e-6)


def test_weights_of_moved_margins():
    random = np.random.default_rng(4)
    X = np.column_stack([np.ones(50), random.normal(size=(50, 3))])
    weights = random.normal(size=(4, 1))
    center = X.mean(axis=0) @ weights
    moved = Moved(np.array([0.7]), 0.3)
    stand_in = SimpleNamespace(first=1, center=center, weights=weights)
    found = X @ Margins.moved(stand_in, moved)
    np.testing.assert_allclose(found, center + 0.7 + 0.3 * (X @ weights - center), rtol=1e-12)


def test_noise_alone_is_pulled_together():
    assert Spread(2.0, 0.0).likely_factor() == 1
    assert Spread(2.0, 1.0).likely_factor() == pytest.approx(0.75)
    assert 0 < Spread(1.0, 5.0).likely_factor() < 0.1
    assert Spread(2.0, 1.0, left=0.5).likely_factor() == pytest.approx(1.5)


@pytest.mark.parametrize("rate", [0.002, 0.03, 0.5, 0.9])
def test_margins_that_are_moved_to_their_level_have_the_rate(rate):
    random = np.random.default_rng(5)
    margins = np.array([0.1, 2.0, 6.0])[:, None] * random.normal(size=2000)
    moved = margins + level(rate, margins, np.full(2000, 1 / 2000))[:, None]
    np.testing.assert_allclose(expit(moved).mean(axis=1), rate, rtol=1e-6)


@pytest.mark.parametrize("noise", [1e-13, 1e-11, 1e-9, 1e-6])
@pytest.mark.parametrize("seen", [-1.0, 0.0, 1e-5, 1.0, 2.0])
def test_a_rate_beyond_all_that_may_be_is_the_nearest(seen, noise):
    nearest = RAREST if seen < 0.5 else 1 - RAREST
    assert likely_share(seen, noise) == pytest.approx(nearest, abs=2e-4)


def log_loss_over_null(epsilon: float, strength: float) -> list[float]:
    """Of 12 fits to one in ten of 3,000 records, on records that were not fitted."""
    random = np.random.default_rng(6)
    X = random.uniform(-1, 1, size=(9000, 60))
    rate = expit(strength * X[:, 0] - 2.3)
    y = (random.random(9000) < rate).astype(int)
    base = y[3000:].mean()
    null = -(base * np.log(base) + (1 - base) * np.log(1 - base))
    found = []
    for seed in range(12):
        model = SparseLogisticRegression(
            epsilon=epsilon, delta=1e-6, bounds=Bounds(-1, 1), classes=[0, 1], random_state=seed
        ).fit(X[:3000], y[:3000])
        p = model.predict_proba(X[3000:])[:, 1]
        found.append(-np.mean(np.where(y[3000:] == 1, np.log(p), np.log(1 - p))) / null)
    return found


def test_a_model_of_nothing_is_hardly_worse_than_none():
    """Seeds 0 to 11: 1.13 and 1.03, standard errors .014 and .005; by a shift alone 1.33, 1.08."""
    assert np.mean(log_loss_over_null(0.3, 0.0)) < 1.22
    assert np.mean(log_loss_over_null(3.0, 0.0)) < 1.06


def test_margins_of_what_is_seen_are_not_pulled_together():
    """Mean .629, standard error .002."""
    assert np.mean(log_loss_over_null(3.0, 4.0)) < 0.64


# What looks at two classes tell -------------------------------------------------------------------

NORMAL = np.random.default_rng(20).normal(size=4000)
MARGINS = {
    "normal": 1.5 * NORMAL,
    "far apart": np.where(NORMAL > 1, 4.0, -1.5) + 0.2 * NORMAL,
    "one side": -2 + np.exp(NORMAL),
}


def residuals(law: TwoClassLaw, margins: np.ndarray, honest: np.ndarray) -> np.ndarray:
    """Means of residuals and of their products with heights, where margins are moved as told."""
    away = margins - law.center.value
    predicted = expit(law.center.value + law.moved.shift + law.moved.factor * away)
    excess, heights = predicted - honest, np.clip(away / law.reach, -1, 1)
    return np.array([excess.mean(), (excess * heights).mean()])


def told(margins: np.ndarray, honest: np.ndarray, noise: float, seed: int = 0) -> TwoClassLaw:
    """After all looks, each with this noise."""
    random = np.random.default_rng(seed)
    counted = honest.mean() + noise * random.normal()
    spread = Spread(float(margins.std()), 0.0)
    law = TwoClassLaw(counted, noise, Center(margins.mean(keepdims=True), 0.0), spread, shifts=True)
    for see in (law.see_residuals, law.see_all, law.see_residuals):
        see(residuals(law, margins, honest) + noise * random.normal(size=2), noise)
    return law


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.6])
@pytest.mark.parametrize("kind", MARGINS)
def test_looks_without_noise_bring_predictions_to_the_rate(kind, rate):
    """Where margins are not normal three looks do not bring them all the way."""
    margins = MARGINS[kind]
    honest = np.full(len(margins), rate)
    law = told(margins, honest, 0.0)
    assert law.moved.factor == 1
    most = {"normal": 0.01, "far apart": 0.2, "one side": 0.6}[kind] * rate
    assert residuals(law, margins, honest)[0] == pytest.approx(0, abs=most)


@pytest.mark.parametrize("factor", [0.6, 1.0, 1.7])
def test_products_tell_how_far_apart_margins_are_to_be(factor):
    margins = MARGINS["normal"] - 1.0
    law = told(margins, expit(factor * margins), 1e-4)
    # Some of what was believed before is kept: no law is quite normal.
    assert law.moved.factor == pytest.approx(factor, rel=0.2)
    assert abs(law.moved.factor - factor) < 0.4 * abs(factor - 0.9) + 0.02
    hidden = told(margins, expit(factor * margins), 5.0)
    assert hidden.moved.factor == pytest.approx(0.9, abs=0.05)  # as before any look


def test_a_center_that_was_told_wrong_is_stretched_too():
    margins, honest = NORMAL + 4.0, expit(0.5 * NORMAL - 2.0)
    law = TwoClassLaw(
        honest.mean(), 1e-4, Center(np.zeros(1), 0.0, 1e9), Spread(1.0, 0.0), shifts=True
    )
    for _ in range(2):
        law.see_residuals(residuals(law, margins, honest), 1e-4)
    assert residuals(law, margins, honest)[0] == pytest.approx(0, abs=1e-3)
    law._factor = 0.4
    law._shift = law._best_shift()
    assert residuals(law, margins, honest)[0] == pytest.approx(0, abs=0.01)


def test_offsets_are_as_likely_as_said_before_any_look():
    center = Center(np.zeros(1), 0.0, 1e9)
    law = TwoClassLaw(0.5, 10.0, center, Spread(0.4, 0.0), shifts=True)
    offsets, masses, _ = law._law
    for size in (0.1, 0.5, 2.0):
        assert masses[np.abs(offsets) < size].sum() == pytest.approx(
            1 - 2 * student.sf(size / 0.2, df=2), abs=0.04
        )


def test_rare_classes_are_not_told_too_rare():
    """Means over 100 fits, seeds 0 to 99: 1.08 and 1.01 of the rate, errors .037 and .015.

    Noise is as large as the rate, and a third of it; shares of zero and less are not believed, so
    that the former is above.
    """
    margins = MARGINS["normal"] - 3.5
    honest = np.full(len(margins), 0.05)
    for noise, error in [(0.05, 0.25), (0.05 / 3, 0.08)]:
        laws = [told(margins, honest, noise, seed) for seed in range(100)]
        predicted = [residuals(law, margins, honest)[0] + 0.05 for law in laws]
        assert np.mean(predicted) / 0.05 == pytest.approx(1, abs=error)


def test_predictions_have_the_rate_that_is_expected():
    """Log loss to be expected is least there: rates and margins are drawn as they are believed."""
    random = np.random.default_rng(21)
    differences = []
    for _ in range(300):
        rate, offset = random.uniform(RAREST, 1 - RAREST), 0.35 * random.standard_t(2)
        law = TwoClassLaw(
            rate + 0.1 * random.normal(),
            0.1,
            Center(np.zeros(1), 0.0, 1e9),
            Spread(1.0, 0.0, doubt=1e-9),
            shifts=True,
        )
        for _ in range(2):
            at = np.array([law.moved.shift[0] + offset])
            mean = mean_prediction(at, law.moved.factor)[0]
            law.see_residuals(np.array([mean - rate + 0.1 * random.normal()]), 0.1)
        at = np.array([law.moved.shift[0] + offset])
        differences.append(mean_prediction(at, law.moved.factor)[0] - rate)
    # Standard error .005: a false alarm is less likely than 1e-6.
    assert abs(np.mean(differences)) < 5 * np.std(differences) / np.sqrt(300)
    assert np.std(differences) < 0.12


@pytest.mark.parametrize("answer", [0.0, 1.0, -1e3, 1e9, -1e300, 1e308, np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("noise", [1e-300, 1e-9, 0.1, 1e6, 1e300])
def test_any_answer_ends_in_numbers(answer, noise):
    for center in (0.0, answer):
        law = TwoClassLaw(
            answer,
            noise,
            Center(np.array([center]), 1e300),
            Spread(1.0, 0.5, 0.1, 0.7),
            shifts=True,
        )
        for see in (law.see_residuals, law.see_all, law.see_residuals):
            see(np.array([answer, -answer]), noise)
        assert np.isfinite(law.moved.shift).all()
        assert 0 < law.moved.factor < 1e3


@pytest.mark.parametrize("answer", [1e30, -1e160, 1e308, np.inf, np.nan])
@pytest.mark.parametrize("k", [1, 4])
def test_looks_beyond_all_numbers_end_in_numbers(k, answer):
    """Whatever the door hands out: weights are numbers."""

    class Answers:
        def release(self, exact, sensitivity, share):
            return np.full_like(exact, answer)

        def deviation(self, sensitivity, share):
            return 3.0

    spread, rates = Spread(1.0, 0.5), np.full(k, 1 / k)
    law = (
        TwoClassLaw(0.2, 0.01, Center(np.zeros(1), 0.0), spread, shifts=True)
        if k == 1
        else ManyClassLaw(rates, spread, True, False)
    )
    looks = Calibration(cast(Moments, Answers()), 0.1, k, 100.0)
    moved = looks.found(lambda moved, reach: np.zeros(k + 1), law)
    assert np.isfinite(moved.shift).all()
    assert 0 < moved.factor < 1e3


# What looks at more classes tell ------------------------------------------------------------------

SEVERAL = np.random.default_rng(21).normal(size=(4000, 4)) * [2.0, 1.0, 0.5, 1.0]
SEVERAL -= SEVERAL.mean(axis=1, keepdims=True)
WHOLE = float(np.sqrt(np.square(SEVERAL).sum(axis=1).mean()))
START = np.log([0.5, 0.3, 0.15, 0.05])


def look_at(law: ManyClassLaw, honest: np.ndarray) -> np.ndarray:
    """Means of residuals and of their products with heights, where margins are moved as told."""
    moved = START + law.moved.shift + law.moved.factor * SEVERAL
    excess, heights = softmax(moved, axis=1) - honest, SEVERAL / law.reach
    heights = heights / np.maximum(1, np.linalg.norm(heights, axis=1, keepdims=True))
    return np.append(excess.mean(axis=0), (excess * heights).sum(axis=1).mean())


def told_several(honest: np.ndarray, noise: float, spread: Spread) -> ManyClassLaw:
    """After all looks, each with this noise, seed 22; base rates are known."""
    random = np.random.default_rng(22)
    law = ManyClassLaw(honest.mean(axis=0), spread, True, False)
    for see, n_told in ((law.see_residuals, 4), (law.see_all, 5), (law.see_residuals, 4)):
        see((look_at(law, honest) + noise * random.normal(size=5))[:n_told], noise)
    return law


@pytest.mark.parametrize("factor", [0.3, 1.0, 5.0])
def test_products_tell_how_far_apart_margins_of_several_classes_are_to_be(factor):
    honest = softmax(np.log([0.2, 0.2, 0.3, 0.3]) + factor * SEVERAL, axis=1)
    law = told_several(honest, 1e-4, Spread(WHOLE, 0.0))
    np.testing.assert_allclose(look_at(law, honest)[:4], 0, atol=0.02)
    # Much of what was believed before is kept, as no law is quite normal.
    assert abs(np.log(law.moved.factor / factor)) <= 0.8 * abs(np.log(factor)) + 0.05
    for first, part in ((factor / 2, 0.75), (2 * factor, 1.0)):  # far apart all look alike
        law = told_several(honest, 1e-4, Spread(WHOLE, 0.0, left=1 / first, doubt=0.7))
        assert abs(np.log(law.moved.factor / factor)) < part * np.log(2)


def test_what_noise_hides_of_several_classes_is_what_was_believed():
    honest = softmax(START + 3 * SEVERAL, axis=1)
    law = told_several(honest, 50.0, Spread(WHOLE, 0.6 * WHOLE, left=0.5))
    assert law.moved.factor == pytest.approx((1 - 0.6**2) / 0.5, rel=0.1)
    assert np.abs(law.moved.shift).max() < 0.05
    noisy = ManyClassLaw(honest.mean(axis=0), Spread(1.0, 2.0), True, False)
    assert noisy.moved.factor == LEAST_SIGNAL


def test_without_noise_several_classes_are_shifted_and_not_stretched():
    honest = softmax(START + 3 * SEVERAL, axis=1)
    law = ManyClassLaw(honest.mean(axis=0), Spread(WHOLE, 0.0), True, True)
    for see, n_told in ((law.see_residuals, 4), (law.see_all, 5), (law.see_residuals, 4)):
        see(look_at(law, honest)[:n_told], 0.0)
    assert law.moved.factor == 1
    np.testing.assert_allclose(look_at(law, honest)[:4], 0, atol=0.01)


@pytest.mark.parametrize("k", [3, 10, 200])
def test_drawn_margins_are_normal_and_the_same_each_time(k):
    found = drawn(k)
    np.testing.assert_array_equal(found, drawn(k))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-9)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-12)
    assert np.square(found).sum(axis=1).mean() == pytest.approx(1.0)
    # Every margin has its part of the square, and is within a deviation as often as it should be.
    deviation = np.sqrt(1 / k)
    np.testing.assert_allclose(found.std(axis=0), deviation, rtol=0.25)
    assert (np.abs(found) < deviation).mean() == pytest.approx(0.683, abs=0.06)


def test_products_are_told_where_mean_predictions_are_the_rates():
    margins, rates = drawn(3), np.array([0.7, 0.25, 0.05])
    for factor, off in ((0.1, 1e-3), (1.0, 1e-3), (4.0, 0.1)):  # a few steps lead close enough
        shift = np.zeros(3)
        for _ in range(500):
            means = softmax(factor * margins + shift, axis=1).mean(axis=0)
            shift += 0.5 * np.log(rates / means)
        expected = (softmax(factor * margins + shift, axis=1) * margins).sum(axis=1).mean()
        found = leaning(np.array([factor, 9.0]), margins, margins, rates)
        assert found[0] == pytest.approx(expected, rel=off)


@pytest.mark.parametrize("noise", [0.0, 1e-300, 1.0, 1e300])
@pytest.mark.parametrize("answer", [0.0, 2.0, -1e6, 1e6])
def test_any_answer_about_several_classes_ends_in_numbers(answer, noise):
    for spread in (Spread(0.05, 20.0, 1e-3, 0.7), Spread(20.0, 0.0)):
        law = ManyClassLaw(np.array([0.002, 0.008, 0.99]), spread, True, False)
        for see, n_told in ((law.see_residuals, 3), (law.see_all, 4), (law.see_residuals, 3)):
            see(np.array([answer, -answer, answer, answer])[:n_told], noise)
        assert np.isfinite(law.moved.shift).all()
        assert 0 < law.moved.factor < 1e3


def test_margins_that_may_not_be_shifted_are_not():
    law = TwoClassLaw(0.3, 0.1, Center(np.ones(1), 0.0), Spread(1.0, 0.0), shifts=False)
    law.see_residuals(np.array([0.4]), 1e-3)
    assert law.moved.shift == 0

"""Losses and sets against finite differences, brute force and closed forms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.data.sums.losses import gradient_sum, mean_loss
from sparsedp.losses import LogCosh, Multinomial
from sparsedp.losses.loss import Lipschitz
from sparsedp.sets import L0Ball, L1Ball, n_features_used
from tests.cases import LOSSES, N_FEATURES, public_facts, random_table


def weights_for(loss, seed, size):
    shape = public_facts(loss, "add_remove", 0).weights_shape
    return size * np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_gradient_is_the_derivative_of_the_value(loss, layout):
    data = random_table(loss, 30, 1).dataset(layout)
    w = weights_for(loss, 2, 0.5)
    gradient = gradient_sum(data, LOSSES[loss], w, np.inf) / data.n_records
    for index in np.ndindex(w.shape):
        step = np.zeros_like(w)
        step[index] = 1e-6
        rise = mean_loss(data, LOSSES[loss], w + step) - mean_loss(data, LOSSES[loss], w - step)
        assert gradient[index] == pytest.approx(rise / 2e-6, abs=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
@given(seed=st.integers(0, 10_000), size=st.sampled_from([0.0, 0.1, 1.0, 5.0]))
def test_residual_bound_holds_at_corners_and_is_attained(loss, seed, size):
    random = np.random.default_rng(seed)
    w = weights_for(loss, seed, size)
    # The corners aligned with (differences of) weight columns have the largest margins.
    columns = w.reshape(len(w), -1)
    aligned = [np.sign(a - b) for a in columns.T for b in (*columns.T, np.zeros(len(w)))]
    corners = np.array([*aligned, *random.choice([-1.0, 1.0], size=(20, len(w)))])
    corners = np.vstack([corners, -corners])
    corners[:, -1] = random.choice([-1.0, 1.0])  # the constant column has one sign only
    margins = corners @ w
    classes = LOSSES[loss].n_classes
    targets = [-1.0, 1.0] if classes is None else range(classes)
    largest = max(
        np.abs(LOSSES[loss].residual(margins, np.full(len(margins), y))).max() for y in targets
    )
    bound = LOSSES[loss].residual_bound(w)
    assert largest <= bound + 1e-12
    if size == 0.0:
        assert largest == pytest.approx(bound)


@pytest.mark.parametrize("loss", LOSSES)
def test_clipped_gradient_keeps_every_record_within_the_bound(loss):
    w = weights_for(loss, 4, 3.0)
    for seed in range(50):
        one = random_table(loss, 1, seed).dataset()
        assert np.abs(gradient_sum(one, LOSSES[loss], w, 0.2)).max() <= 0.2 + 1e-15


PROMISING = {**LOSSES, "log_cosh": LogCosh(0.7), "log_cosh_wide": LogCosh(5.0)}


def records_of(loss, n=400):
    """Margins and targets in no relation to each other, some margins large."""
    random = np.random.default_rng(5)
    shape = (n,) if loss.n_outputs == 1 else (n, loss.n_outputs)
    classes = loss.n_classes
    target = random.uniform(-1, 1, n) if classes is None else random.integers(0, classes, n)
    return random.normal(size=shape) * random.choice([0.0, 0.1, 1.0, 6.0], size=shape), target


def curvatures(loss, margins, target):
    return loss.curvature(margins, target).reshape(-1, loss.n_outputs, loss.n_outputs)


@pytest.mark.parametrize("name", PROMISING)
def test_curvature_is_the_derivative_of_the_residual(name):
    loss = PROMISING[name]
    margins, target = records_of(loss)
    found = curvatures(loss, margins, target)
    for k in range(loss.n_outputs):
        step = 1e-6 * (np.arange(loss.n_outputs) == k)
        step = step if margins.ndim == 2 else step[0]
        rise = loss.residual(margins + step, target) - loss.residual(margins - step, target)
        np.testing.assert_allclose(found[:, :, k], rise.reshape(len(found), -1) / 2e-6, atol=1e-8)


@pytest.mark.parametrize("name", PROMISING)
def test_declared_bounds_hold_and_are_nearly_attained(name):
    loss = PROMISING[name]
    margins, target = records_of(loss)
    found = curvatures(loss, margins, target)
    steepest = np.linalg.eigvalsh(found).max()
    assert 0.8 * loss.curvature_bound <= steepest <= loss.curvature_bound + 1e-12
    along_one = np.diagonal(found, axis1=1, axis2=2).max()
    assert 0.8 * loss.margin_curvature_bound <= along_one <= loss.margin_curvature_bound + 1e-12
    if isinstance(loss, Lipschitz):
        residual = loss.residual(margins, target).reshape(len(found), -1)
        longest = np.linalg.norm(residual, axis=1).max()
        assert 0.8 * loss.lipschitz <= longest <= loss.lipschitz + 1e-12


@pytest.mark.parametrize("name", PROMISING)
def test_clipped_residuals_move_no_faster_than_declared(name):
    loss = PROMISING[name]
    margins, target = records_of(loss)
    step = 1e-5 * np.random.default_rng(6).normal(size=margins.shape)
    for bound in (0.1, 0.3, np.inf):
        ends = [loss.clipped(loss.residual(at, target), bound) for at in (margins, margins + step)]
        moved = np.linalg.norm((ends[1] - ends[0]).reshape(len(target), -1), axis=1)
        allowed = np.linalg.norm(step.reshape(len(target), -1), axis=1) * loss.residual_lipschitz
        assert (moved <= allowed * (1 + 1e-5) + 1e-12).all()


@pytest.mark.parametrize("name", PROMISING)
def test_what_is_not_a_number_is_clipped_to_nothing(name):
    loss = PROMISING[name]
    residual = np.full((3,) if loss.n_outputs == 1 else (3, loss.n_outputs), 0.9)
    residual[1] = np.nan
    found = loss.clipped(residual, 0.2)
    assert np.isfinite(found).all()
    assert not found[1].any()
    assert np.abs(found).max() <= 0.2


@pytest.mark.parametrize("clip", [0.7, 5.0, 100.0])
@pytest.mark.parametrize("size", [0.0, 0.5, 3.0])
def test_residual_bound_of_the_smooth_relative_of_squares(clip, size):
    loss = LogCosh(clip)
    largest = loss.residual(np.array([-size, size]), np.array([1.0, -1.0]))
    bound = loss.residual_bound(np.array([0.25, -0.75]) * size)
    assert np.abs(largest).max() <= bound <= clip


def test_two_class_multinomial_is_logistic():
    data = random_table("logistic", 40, 1).dataset()
    w = weights_for("logistic", 2, 1.0)
    two = np.column_stack([np.zeros_like(w), w])
    codes = random_table("logistic", 40, 1)
    margins = data.matvec(two)
    derivative = Multinomial(2).residual(margins, codes.y)
    expected = LOSSES["logistic"].residual(data.matvec(w), data.target)
    np.testing.assert_allclose(derivative[:, 1], expected, atol=1e-14)


def test_multinomial_bound_at_zero():
    assert Multinomial(10).residual_bound(np.zeros((3, 10))) == pytest.approx(0.9)


def test_l1_ball_vertices_and_gap():
    ball = L1Ball(2.0)
    w = np.array([0.5, -0.5, 0.0])
    np.testing.assert_allclose(ball.step_toward(w, 2, 0.5), [0.25, -0.25, 1.0])
    np.testing.assert_allclose(ball.step_toward(w, 3, 1.0), [-2.0, 0.0, 0.0])
    gradient = np.array([1.0, -3.0, 0.0])
    assert ball.gap(np.array([0.0, 2.0, 0.0]), gradient) == 0  # the best vertex
    assert ball.gap(w, gradient) == pytest.approx(2.0 + 6.0)
    with pytest.raises(ValueError, match="radius"):
        L1Ball(0)


@given(
    seed=st.integers(0, 10_000),
    k=st.integers(0, N_FEATURES + 2),
    outputs=st.sampled_from([1, 3]),
)
def test_l0_ball_keeps_the_heaviest_and_the_intercept(seed, k, outputs):
    random = np.random.default_rng(seed)
    w = random.normal(size=(N_FEATURES + 1, outputs)).squeeze()
    kept = L0Ball(k, N_FEATURES).threshold(w)
    assert n_features_used(kept, N_FEATURES) == min(k, N_FEATURES)
    np.testing.assert_array_equal(kept[N_FEATURES], w[N_FEATURES])
    heaviness = np.abs(w[:N_FEATURES]).reshape(N_FEATURES, -1).sum(axis=1)
    used = kept[:N_FEATURES].reshape(N_FEATURES, -1).any(axis=1)
    if 0 < k < N_FEATURES:
        assert heaviness[used].min() >= heaviness[~used].max()

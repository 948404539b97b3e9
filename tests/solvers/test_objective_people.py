"""Perturbed minima where a person with several rows is protected: the cost, and what is stored."""

import math

import numpy as np
import pytest
from scipy.special import expit, softmax

from sparsedp.privacy import (
    Minimize,
    PerturbedMinimum,
    PrivacyProfile,
    PureMinima,
    PureMinimize,
    Schedule,
)
from sparsedp.privacy.account.calibration import calibrate
from sparsedp.privacy.account.objective import minimum_atoms, pure_determinant
from sparsedp.privacy.events import event_from_dict
from sparsedp.privacy.ledger.divergence import of_events
from sparsedp.privacy.verdict import verdict_of

CLIP = 0.5
BOUNDS = {"logistic": (1.0, 0.25), "log_cosh": (CLIP, 1.0), "multinomial": (math.sqrt(2), 0.5)}
"""Largest gradient and curvature of a row of norm one."""

PLANE = np.linalg.svd(np.ones((1, 3)))[2][1:].T
"""Three classes and one feature: weights that add up to zero, in two coordinates."""


def minimum(shape, neighbors, mu, ratio, rows):
    """One minimum, with next to no rounding noise."""
    outputs = 3 if shape == "multinomial" else 1
    return PerturbedMinimum(mu, ratio, shape, neighbors, 1e-9, outputs, rows)


def gradient_and_hessian(W, person, shape):
    """Of the rows (x, target, weight) of a person, at weights in the plane."""
    gradient, hessian = np.zeros_like(W), np.zeros((*W.shape[:2], 2, 2))
    for x, y, weight in person:
        if shape == "multinomial":
            p = softmax(x * W @ PLANE.T, axis=-1)
            gradient += weight * x * ((p - np.eye(3)[int(y)]) @ PLANE)
            second = p[..., :, None] * (np.eye(3) - p[..., None, :])
            hessian += weight * x**2 * (PLANE.T @ second @ PLANE)
            continue
        margins = W @ x
        if shape == "logistic":
            first, second = expit(margins) - y, expit(margins) * expit(-margins)
        else:
            first = CLIP * np.tanh((margins - y) / CLIP)
            second = 1 - (first / CLIP) ** 2
        gradient += (weight * first)[..., None] * x
        hessian += (weight * second)[..., None, None] * np.outer(x, x)
    return gradient, hessian


class Plane:
    """Exact laws of the minimum on a grid that is fine where curvatures change."""

    def __init__(self, shape, strength, sigma, n=201, center=(0.0, 0.0)):
        reach = 7.5 * sigma / strength + 6 * BOUNDS[shape][0] / strength
        nodes = np.sinh(np.linspace(-6, 6, n)) / math.sinh(6) * reach
        self.cells = np.outer(np.gradient(nodes), np.gradient(nodes))
        self.off = np.stack(np.meshgrid(nodes, nodes, indexing="ij"), axis=-1)
        self.W = self.off + center  # where saturated others, a linear term, would hold it
        self.shape, self.strength, self.sigma = shape, strength, sigma

    def density(self, rows):
        """By change of variables from the linear term."""
        gradient, hessian = gradient_and_hessian(self.W, rows, self.shape)
        b = gradient + self.strength * self.off
        determinant = np.linalg.det(hessian + self.strength * np.eye(2))
        variance = self.sigma**2
        return determinant * np.exp(-(b**2).sum(-1) / (2 * variance)) / (2 * math.pi * variance)

    def delta(self, p, q, epsilon):
        """Exact, in the worse direction."""
        gaps = (p - math.exp(epsilon) * q, q - math.exp(epsilon) * p)
        return max(float((np.maximum(gap, 0.0) * self.cells).sum()) for gap in gaps)


def test_two_rows_cost_more_than_one_of_the_same_weight():
    """Two orthogonal rows of weight 1/2: what is proven for single rows is false for them."""
    mu, ratio = 0.05, 2.0
    plane = Plane("logistic", 0.25 / ratio, 1 / mu)
    person = [(np.array([1.0, 0.0]), 1, 0.5), (np.array([0.0, 1.0]), 1, 0.5)]
    epsilon = 1.1 * math.log1p(ratio)
    exact = plane.delta(plane.density(person), plane.density([]), epsilon)
    assert exact == pytest.approx(9.48e-6, rel=0.02)
    one, two = (
        PrivacyProfile((minimum("logistic", "add_remove", mu, ratio, rows),)).delta(epsilon)
        for rows in (1, 2)
    )
    assert one < 1e-7 < exact < two


def some_person(random, shape, most):
    """Rows in any direction, of any target, whose weights add up to at most one."""
    m = int(random.integers(1, most + 1))
    weights = random.dirichlet(np.ones(m)) * random.choice([1.0, 1.0, random.random()])
    angles = random.uniform(0, 2 * math.pi, m)
    rows = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    if shape == "multinomial":
        rows = random.choice([-1.0, 1.0, 0.5], m)
    targets = random.integers(0, 2, m)
    if shape == "log_cosh":
        targets = random.choice([-3.0, 0.0, 1.0], m)
    return list(zip(rows, targets, weights, strict=True))


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("shape", ["logistic", "log_cosh", "multinomial"])
def test_exact_divergences_stay_below_the_bound(shape, neighbors):
    """Deterministic: integrals over a fine grid, for persons of seed 8 among others and alone."""
    random = np.random.default_rng(8)
    reach, curvature = BOUNDS[shape]
    closest = 0.0
    for mu, ratio, rows in ((0.3, 0.3, 2), (1.0, 0.1, 3), (1.0, 1.0, 4), (2.0, 0.3, 2)):
        sigma = reach * (1 if neighbors == "add_remove" else 2) / mu
        plane = Plane(shape, curvature / ratio, sigma)
        profile = PrivacyProfile((minimum(shape, neighbors, mu, ratio, rows),))
        for others in ([], some_person(random, shape, 3)):
            p = plane.density(others + some_person(random, shape, rows))
            other = [] if neighbors == "add_remove" else some_person(random, shape, rows)
            q = plane.density(others + other)
            assert (p * plane.cells).sum() == pytest.approx(1, abs=2e-3)
            for epsilon in (0.1, 0.5, 2.0):
                bound = profile.delta(epsilon)
                exact = plane.delta(p, q, epsilon)
                assert exact <= bound * (1 + 2e-3) + 1e-9
                closest = max(closest, exact / bound if bound > 1e-6 else 0.0)
    assert closest > 0.05  # not so far above it that nothing was tested


@pytest.mark.parametrize(("shape", "targets"), [("logistic", (0, 0)), ("log_cosh", (-50.0, -50.0))])
def test_two_saturated_records_cost_what_is_counted(shape, targets):
    """Almost opposite rows far out: both gradients are largest, so that twice the shift is real."""
    mu, ratio, angle = 1.0, 0.1, 0.1
    reach, curvature = BOUNDS[shape]
    rows = [np.array([side * math.cos(angle), math.sin(angle)]) for side in (1, -1)]
    plane = Plane(shape, curvature / ratio, 2 * reach / mu, center=(0.0, 80.0))
    p, q = (plane.density([(x, y, 1.0)]) for x, y in zip(rows, targets, strict=True))
    profile = PrivacyProfile((minimum(shape, "replace_one", mu, ratio, 1),))
    signs = 1 if shape == "logistic" else 2  # of which one is real
    for epsilon in (3.0, 4.0):
        exact, bound = plane.delta(p, q, epsilon), profile.delta(epsilon)
        assert exact <= bound < signs * exact / 0.65


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_several_classes_pointwise(neighbors):
    """Seed 6, no statistics: exact losses at many minima against what is counted, in 12 weights."""
    random = np.random.default_rng(6)
    K, d, M, sigma, strength = 4, 3, 3, 1.5, 0.7
    flat = pure_determinant(0.5 / strength, "multinomial", K, M)
    assert flat <= pure_determinant(0.5 / strength, "multinomial", K, None)

    def person():
        X = random.normal(size=(M, d))
        return X / np.linalg.norm(X, axis=1)[:, None], random.integers(0, K, M)

    def parts(W, X, y):
        p = softmax(X @ W, axis=1)
        gradient = X.T @ (p - np.eye(K)[y]) / M
        seconds = [
            np.kron(np.outer(x, x), np.diag(one) - np.outer(one, one)) / M
            for x, one in zip(X, p, strict=True)
        ]
        corners = [
            np.outer(x, np.eye(K)[k] - np.eye(K)[t])
            for x, t in zip(X, y, strict=True)
            for k in range(K)
        ]
        return gradient, sum(seconds), corners

    highest = 0.0
    for _ in range(200):
        W = random.normal(size=(d, K)) * random.choice([0.2, 2.0])
        g, H, corners = parts(W, *person())
        without = parts(W, *person()) if neighbors == "replace_one" else (0 * g, 0 * H, [0 * g])
        others_g, others_H, _ = parts(W, *person())
        b = -(others_g + g) - strength * W  # for which W is the minimum
        base = others_H + strength * np.eye(d * K)
        determinant = np.linalg.slogdet(base + H)[1] - np.linalg.slogdet(base + without[1])[1]
        assert determinant <= flat + 1e-12

        def loss_of(shift, b=b):
            return (np.sum((b + shift) ** 2) - np.sum(b**2)) / (2 * sigma**2)

        lines = [loss_of(one - two) for one in corners for two in without[2]]
        loss = loss_of(g - without[0]) + determinant
        assert loss <= flat + max(lines) + 1e-9
        highest = max(highest, determinant / flat)
    assert highest > 0.3


def at_minimum(random, shape, W, M):
    """Gradient and hessian at W of a person with M rows, and the corners of what it can be."""
    X = random.normal(size=(M, len(W)))
    X /= np.linalg.norm(X, axis=1)[:, None]
    margins = X @ W
    if shape == "logistic":
        y = random.integers(0, 2, M)
        first = expit(margins) - y
        second, signs = np.abs(first) * (1 - np.abs(first)), [np.where(y == 1, -1.0, 1.0)]
    else:
        residuals = random.choice([0.0, 0.5, 1.0, 9.0], M) * random.choice([-1, 1], M)
        first = CLIP * np.tanh(residuals / CLIP)
        second, signs = 1 - (first / CLIP) ** 2, [np.ones(M), -np.ones(M)]
    weights = random.dirichlet(np.ones(M))
    hessian = (X * (weights * second)[:, None]).T @ X
    corners = np.concatenate([sign[:, None] * X for sign in signs]) * BOUNDS[shape][0]
    return (weights * first) @ X, hessian, corners


@pytest.mark.parametrize("shape", ["logistic", "log_cosh"])
def test_one_person_for_another_pointwise(shape):
    """Seed 7, no statistics: exact losses at many minima against the corners that are counted."""
    random = np.random.default_rng(7)
    d, steep = 3, 4 if shape == "logistic" else 2
    reach, curvature = BOUNDS[shape]
    bent, highest = 0, 0.0
    for _ in range(400):
        M, ratio = int(random.integers(1, 4)), float(random.choice([0.1, 1.0, 5.0]))
        flat = M * math.log1p(ratio / M)
        bend = 1 - flat / (steep * ratio)
        W = random.normal(size=d) * random.choice([0.3, 2.0, 10.0])
        g, H, corners = at_minimum(random, shape, W, M)
        new_g, new_H, new_corners = at_minimum(random, shape, W, M)
        new_corners = [*new_corners, np.zeros(d)]
        base = curvature / ratio * np.eye(d)
        determinant = np.linalg.slogdet(base + H)[1] - np.linalg.slogdet(base + new_H)[1]
        sigma = reach * float(random.choice([1.0, 5.0]))
        b = random.normal(size=d) * sigma  # for some other people W is its minimum

        def loss_of(shift, b=b, sigma=sigma):
            return (np.sum((b + shift) ** 2) - np.sum(b**2)) / (2 * sigma**2)

        ends = max(loss_of(one - two) for one in corners for two in new_corners)
        bends = max(
            flat + loss_of(one - two)
            for one in (*bend * corners, np.zeros(d))
            for two in new_corners
        )
        loss = loss_of(g - new_g) + determinant
        assert loss <= max(ends, bends) + 1e-9
        bent += loss > max(ends, 0.0)
        highest = max(highest, loss / max(ends, bends))
    assert bent > 20  # with the largest gradients alone it would be false
    assert highest > 0.8


SHAPES = [
    (shape, n)
    for shape in ("logistic", "log_cosh", "any", "multinomial")
    for n in ("add_remove", "replace_one")
]


@pytest.mark.parametrize(("shape", "neighbors"), SHAPES)
def test_more_rows_cost_more(shape, neighbors):
    outputs = 4 if shape == "multinomial" else 1

    def delta(rows, ratio, epsilon):
        event = PerturbedMinimum(0.4, ratio, shape, neighbors, 1e-9, outputs, rows)
        return PrivacyProfile((event,)).delta(epsilon)

    for epsilon in (0.2, 1.0, 2.0):
        found = [delta(rows, 0.2, epsilon) for rows in (1, 2, 3, 10, 1000)]
        assert found == sorted(set(found))
    # Far out and without curvature: so many Gaussian shifts, or pairs of them.
    times = 10 if neighbors == "add_remove" else 100
    assert delta(10, 1e-9, 2.0) == pytest.approx(times * delta(1, 1e-9, 2.0), rel=1e-3)


def fields(event):
    """Of an event, as its constructor takes them."""
    return {key: value for key, value in event.to_dict().items() if key != "event"}


def test_determinants_grow_with_rows_up_to_the_trace():
    for shape, outputs in (("logistic", 1), ("multinomial", 4)):
        found = [pure_determinant(0.7, shape, outputs, rows) for rows in (1, 2, 5, 1000, None)]
        assert found == sorted(set(found))
        assert found[-2] == pytest.approx(found[-1], rel=1e-3)
        assert found[0] == pure_determinant(0.7, shape, outputs)


class TestStored:
    def test_one_row_is_stored_as_before(self):
        one = PerturbedMinimum(0.2, 0.1, "logistic", "add_remove", 0.002)
        assert "rows_per_unit" not in one.to_dict()
        assert event_from_dict(one.to_dict()) == one == PerturbedMinimum(**fields(one))

    def test_several_rows_are_read_as_they_were_written(self):
        several = PerturbedMinimum(0.2, 0.1, "logistic", "add_remove", 0.002, 1, 7)
        assert several.to_dict()["rows_per_unit"] == 7
        assert event_from_dict(several.to_dict()) == several

    @pytest.mark.parametrize("rows", [0, -1, 2.0, True, None, "2", 10**7])
    def test_what_is_no_number_of_rows(self, rows):
        with pytest.raises(ValueError, match="rows of a person"):
            PerturbedMinimum(0.2, 0.1, "logistic", "add_remove", 0.002, 1, rows)
        with pytest.raises(ValueError, match="rows of a person"):
            Minimize(None, "logistic", "add_remove", rows_per_unit=rows)


SOLVER = {"name": "ObjectivePerturbation", "rows_per_person": 7}


def stored_record(solver, *events, unit="person"):
    """As a model file has it; epsilon is what these releases cost, up to rounding."""
    listed = [{"name": "minimize", **event.to_dict()} for event in events]
    return {
        "epsilon": PrivacyProfile(events).epsilon(1e-6) * (1 + 1e-10),
        "delta": 1e-6,
        "neighbors": "add_remove",
        "calibration": "sound",
        "events": listed,
        "solver": solver,
        "target": {},
        "seeded": False,
        "unit": unit,
    }


class TestRecount:
    """A record that lists a minimum of people is believed only if its settings say the same."""

    honest = PerturbedMinimum(0.2, 0.1, "logistic", "add_remove", 0.002, 1, 7)

    @pytest.mark.parametrize(
        "solver",
        [SOLVER, {"name": "TwoStage", "voter": {"rows_per_person": 3}, "solver": SOLVER}],
    )
    def test_honest(self, solver):
        found = verdict_of(stored_record(solver, self.honest))
        assert found.level == "private", found.reasons
        assert found.epsilon == pytest.approx(PrivacyProfile((self.honest,)).epsilon(1e-6))

    @pytest.mark.parametrize("rows", [1, 2, 6, 8, 0, None, "7", 7.0, True])
    def test_another_number_of_rows(self, rows):
        forged = stored_record(SOLVER, self.honest)
        forged["events"][0]["rows_per_unit"] = rows
        assert verdict_of(forged).level == "contradicted"

    def test_removed(self):
        forged = stored_record(SOLVER, self.honest)
        del forged["events"][0]["rows_per_unit"]
        found = verdict_of(forged)
        assert found.level == "contradicted"
        assert "another number of rows" in found.reasons[0]
        del forged["unit"]  # and now rows are said to be protected, with a minimum of one row
        assert verdict_of(forged).level == "private"

    @pytest.mark.parametrize("unit", ["row", "household", ["person"], None])
    def test_another_unit(self, unit):
        assert verdict_of(stored_record(SOLVER, self.honest, unit=unit)).level == "contradicted"

    @pytest.mark.parametrize("cap", [None, 3, "7", True, 7.0])
    def test_settings_without_this_cap(self, cap):
        forged = stored_record(SOLVER | {"rows_per_person": cap}, self.honest)
        assert verdict_of(forged).level == "contradicted"

    def test_pure_minima_that_pay_for_one_row(self):
        honest = PureMinima(0.1, 2, 0.1 - 0.01 - 0.05, 0.05, 0.01)
        assert verdict_of(stored_record({"name": "ADMM"}, honest)).level == "private"
        single = PureMinima(0.1, 2, 0.1 - 0.01 - math.log1p(0.05), 0.05, 0.01)
        assert verdict_of(stored_record({"name": "ADMM"}, single, unit="row")).level == "private"
        assert verdict_of(stored_record({"name": "ADMM"}, single)).level == "contradicted"
        one = {"name": "ADMM", "rows_per_person": 1}
        assert verdict_of(stored_record(one, single)).level == "private"

    def test_a_ledger_counts_what_it_lists(self):
        listed = [{"name": "minimize", **self.honest.to_dict()}]
        several = of_events(listed, 8.0, "add_remove")
        del listed[0]["rows_per_unit"]
        assert several.divergence > of_events(listed, 8.0, "add_remove").divergence


class TestCalibrated:
    @pytest.mark.parametrize(
        ("rows", "noise"),
        [(1, (4.23, 4.31)), (2, (4.37, 4.58)), (10, (4.68, 5.16)), (100, (5.10, 5.91))],
    )
    def test_what_rows_cost(self, rows, noise):
        """Noise over what a person can move the gradient by, at (1, 1e-6)."""
        for neighbors, expected in zip(("add_remove", "replace_one"), noise, strict=True):
            request = Minimize(None, "logistic", neighbors, rows_per_unit=rows)
            (found,) = calibrate(Schedule((request,)), 1.0, 1e-6)
            assert found.rows_per_unit == rows
            assert 1 / found.mu == pytest.approx(expected, abs=0.006)
            assert PrivacyProfile((found,)).delta(1.0) <= 1e-6

    def test_pure_minima_pay_for_the_trace(self):
        for shape, outputs, slope in (("log_cosh", 1, 1.0), ("multinomial", 4, 1.5)):
            request = PureMinimize(3, 1.0, 8.0, shape, "replace_one", outputs, rows_per_unit=None)
            (found,) = calibrate(Schedule((request,)), 2.0, 1e-6)
            assert found.ratio == 1 / 8
            assert 2 * found.rate + slope / 8 + found.rounding_epsilon == pytest.approx(2 / 3)

    @pytest.mark.parametrize("outputs", [1, 4])
    def test_the_advice_on_regularization_is_enough(self, outputs):
        shape = "logistic" if outputs == 1 else "multinomial"
        little = Schedule((Minimize(0.1, shape, "add_remove", outputs, rows_per_unit=50),))
        with pytest.raises(ValueError, match="more than") as refused:
            calibrate(little, 0.5, 1e-6)
        enough = 1.01 * float(str(refused.value).rsplit(" ", 1)[1])
        request = Minimize(enough, shape, "add_remove", outputs, rows_per_unit=50)
        (found,) = calibrate(Schedule((request,)), 0.5, 1e-6)
        assert found.ratio == 1 / enough


def test_atoms_are_a_law():
    for shape in ("logistic", "log_cosh", "multinomial"):
        for neighbors in ("add_remove", "replace_one"):
            atoms = minimum_atoms(minimum(shape, neighbors, 0.5, 0.3, 1000), 1e-30)
            assert atoms.masses.sum() + atoms.infinite == pytest.approx(1.0)
            assert atoms.losses.min() >= 0
            assert (atoms.masses >= 0).all()

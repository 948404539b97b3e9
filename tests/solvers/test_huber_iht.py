"""Hard thresholding with Huber's loss: what it is, what it refuses, and how it does with tails."""

import numpy as np
import pytest

from sparsedp import Bounds, Ledger, SparseLinearRegression, SparseLogisticRegression
from sparsedp.losses import Huber
from sparsedp.losses.huber import LARGEST_THRESHOLD, SMALLEST_THRESHOLD
from sparsedp.solvers import IGHT, HuberIHT
from tests.cases import LOSSES, public_facts, random_table
from tests.solved import solved
from tests.whole import whole

PRIVATE = {"epsilon": 1.0, "delta": 1e-5, "bounds": Bounds.symmetric(1.0), "random_state": 0}
RATE = {"n_records": 10_000, "epsilon": 0.5, "n_nonzero": 4, "n_features": 1000, "scale": 1e-3}


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_it_is_peeling_clipped_at_the_threshold(neighbors):
    data = random_table("huber", 90, 2).dataset()
    public, loss = public_facts("huber", neighbors, 90), LOSSES["huber"]
    peeling = IGHT(n_nonzero=2, n_steps=4, clip=0.3, peeling=True)
    found = [
        whole(solved(solver, data, loss, public, epsilon=2.0, seed=5))
        for solver in (HuberIHT(n_nonzero=2, n_steps=4), peeling)
    ]
    assert found[0] == found[1]


def test_other_losses_are_refused_before_the_charge():
    ledger = Ledger(epsilon=5.0, delta=1e-3)
    X = np.random.default_rng(0).uniform(-1, 1, (50, 3))
    how = {"solver": "huber_iht", "ledger": ledger, **PRIVATE}
    with pytest.raises(ValueError, match="not Squared: say loss='huber'"):
        SparseLinearRegression(target_bounds=(-1, 1), **how).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="not Logistic: say loss='huber'"):
        SparseLogisticRegression(classes=[0, 1], **how).fit(X, (X[:, 0] > 0).astype(int))
    assert ledger.history() == []
    with pytest.raises(ValueError, match="n_steps"):
        HuberIHT(n_steps=0)


def test_errors_without_variance():
    """Seed 0 of the data, 0 to 2 of the noise: far closer than without a clip."""
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (10_000, 40))
    true = np.zeros(40)
    true[:4] = 1, -1, 1, -1
    y = X @ true + random.standard_t(1.5, len(X))
    errors: dict[str, list[float]] = {"huber": [], "squared": []}
    for seed in range(3):
        for loss, solver in (
            ("huber", HuberIHT()),
            ("squared", IGHT(n_steps=10, clip=2.0, peeling=True)),
        ):
            how = PRIVATE | {"random_state": seed, "n_nonzero": 4, "solver": solver}
            model = SparseLinearRegression(target_bounds=(-30, 30), loss=loss, **how).fit(X, y)
            errors[loss].append(float(np.linalg.norm(model.coef_ - true)))
    assert max(errors["huber"]) < 0.2
    assert np.mean(errors["huber"]) < 0.5 * np.mean(errors["squared"])


@pytest.mark.parametrize("tail", [1.0, 0.5])
def test_the_threshold_grows_as_the_rate_says(tail):
    before = Huber.for_tails(**RATE, tail=tail).threshold
    for changed, power in (
        ({"n_records": 40_000}, 4.0),
        ({"epsilon": 1.0}, 2.0),
        ({"n_nonzero": 16}, 0.5),
    ):
        after = Huber.for_tails(**(RATE | changed), tail=tail).threshold
        assert after / before == pytest.approx(power ** (1 / (1 + tail)))
    loud = Huber.for_tails(**(RATE | {"epsilon": 1e6}), tail=tail).threshold
    assert loud == pytest.approx(1e-3 * (10_000 / np.log(1000)) ** (1 / (1 + tail)))


def test_a_threshold_stays_where_it_makes_sense():
    assert Huber.for_tails(**(RATE | {"scale": 1e9})).threshold == LARGEST_THRESHOLD
    assert Huber.for_tails(**(RATE | {"scale": 1e-9})).threshold == SMALLEST_THRESHOLD
    for wrong in ({"scale": 0.0}, {"epsilon": float("nan")}, {"n_records": -1}, {"tail": 1.5}):
        with pytest.raises(ValueError, match="positive numbers"):
            Huber.for_tails(**(RATE | wrong))

"""Settings that papers derive: steps, step size, sparsity, limits of a count, a budget in rho."""

import math

import numpy as np
import pytest

from sparsedp import SparseLogisticRegression
from sparsedp.data.bounds import Bounds
from sparsedp.fit.zcdp import epsilon_of
from sparsedp.losses import Logistic, Squared
from sparsedp.privacy import Budget, PublicFacts, UnprovenGuarantee
from sparsedp.privacy.account.accountants import zcdp_rho
from sparsedp.solvers import IGHT, FrankWolfe, NoisyGD, SparseTheory, Sparsifier


def facts(d=100, n=1000, loss=None, **more):
    known = {"neighbors": "replace_one", "n_records": n, "epsilon": 1.0, "delta": 1e-4}
    return PublicFacts(n_features=d, n_nonzero=3, loss=loss or Logistic(), **{**known, **more})


def count_of(schedule, name):
    return next(r.count for r in schedule.requests if r.name == name)


@pytest.mark.parametrize("calibration", ["sound", "proven", "published"])
def test_frank_wolfe_takes_the_steps_of_corollary_3(calibration):
    """T = (C n epsilon)^(2/3) / (L radius)^(2/3) with L = 1, C = radius^2 / 4 or radius^2."""
    solver = FrankWolfe(radius=2.0, n_steps="theory", calibration=calibration)
    assert count_of(solver.schedule(facts()), "vertex") == 63  # 500^(2/3) = 62.996
    assert count_of(solver.schedule(facts(loss=Squared())), "vertex") == 159  # 2000^(2/3)
    assert count_of(solver.schedule(facts(epsilon=8.0)), "vertex") == 252  # 4000^(2/3)


def test_steps_by_theory_ask_for_what_is_not_public():
    private = {"neighbors": "add_remove", "n_records": None}
    for solver in (FrankWolfe(n_steps="theory"), IGHT(n_steps="theory")):
        with pytest.raises(ValueError, match="add/remove protects"):
            solver.schedule(facts(**private))
        for epsilon in (None, math.inf):
            with pytest.raises(ValueError, match="finite and known"):
                solver.schedule(facts(epsilon=epsilon))
    told = FrankWolfe(radius=2.0, n_steps="theory", n_records=1000)
    assert count_of(told.schedule(facts(**private)), "vertex") == 63
    for wrong in ("theories", 0):
        with pytest.raises(ValueError, match="n_steps must be"):
            FrankWolfe(n_steps=wrong)
        with pytest.raises(ValueError, match="n_steps must be"):
            IGHT(n_steps=wrong)


def test_ight_takes_steps_and_sparsity_of_theorem_5_4():
    """sqrt(rho) = sqrt(10.2103) - sqrt(9.2103) = .160507 at (1, 1e-4).

    With m = 1/4, k = 4, s = 16 * 3, G = sqrt(101) the logarithm is
    2 log(.160507 * 1e6 / 4 / (4 * 10.0499 * sqrt(48 * 4.60517))) = 2 log(67.14) = 8.4135.
    """
    solver = IGHT(n_nonzero="theory", n_steps="theory", step_size="theory", calibration="published")
    schedule = solver.schedule(facts(n=1_000_000))
    assert count_of(schedule, "gradient") == math.ceil(4 * 8.4135) == 34
    assert count_of(solver.schedule(facts(n=10)), "gradient") == 1
    theory = SparseTheory()
    assert theory.step_size == 1 / 1.25
    assert theory.n_nonzero(facts()) == 48
    assert theory.n_nonzero(facts(d=20)) == 20
    declared = SparseTheory(smoothness=2.0, strong_convexity=1.0, true_nonzero=5, step_constant=0.5)
    assert (declared.step_size, declared.n_nonzero(facts())) == (0.5 / 3, 20)
    with pytest.raises(ValueError, match="no function"):
        SparseTheory(smoothness=0.1)
    with pytest.raises(ValueError, match="do not adapt"):
        IGHT(step_size="theory")


def fitted(solver, **settings):
    random = np.random.default_rng(4)
    X = random.uniform(-1, 1, (400, 30))
    model = SparseLogisticRegression(
        delta=1e-4,
        bounds=Bounds(-1, 1),
        classes=[0, 1],
        neighbors="replace_one",
        n_nonzero=1,
        solver=solver,
        random_state=1,
        **settings,
    )
    return model.fit(X, X[:, 0] + 0.1 * random.normal(size=400) > 0)


def test_a_fit_by_theory_keeps_and_records_what_it_was_told():
    theory = SparseTheory(n_records=400, smoothness=0.5)
    named = {"n_nonzero": "theory", "n_steps": "theory", "step_size": "theory"}
    model = fitted(IGHT(**named, theory=theory, calibration="proven"), epsilon=2.0)
    assert np.count_nonzero(model.coef_) == 4  # k^2 s* = 2^2
    assert model.privacy_.solver["theory"]["smoothness"] == 0.5
    model = fitted(FrankWolfe(radius=0.5, n_steps="theory"), epsilon=2.0)
    assert model.privacy_.events[0]["count"] == 22  # (.25 * .5 * 400 * 2)^(2/3) = 21.5


def test_the_count_is_clipped_to_alpha_and_beta():
    inner = FrankWolfe(n_steps=5)
    asked = {"n_nonzero": "count", "count_solver": FrankWolfe(n_steps=9)}
    for calibration, ends in (("sound", (3, 7)), ("proven", (3, 8)), ("published", (3, 8))):
        solver = Sparsifier(inner, **asked, alpha=2.6, beta=7.9, calibration=calibration)
        assert solver._range(100) == ends
        assert Sparsifier(inner, **asked, calibration=calibration)._range(54) == (
            (8, 14) if calibration == "sound" else (7, 15)
        )
    # The published noise is for 7.9 - 2.6, while the rounded count moves by 5.
    noise = FrankWolfe(n_steps=5, calibration="published")
    solver = Sparsifier(noise, **asked, alpha=2.6, beta=7.9, calibration="published")
    how = {"epsilon": 1.0, "delta": 1e-4, "neighbors": "replace_one"}
    published = Budget(solver.schedule(facts()), **how)
    assert published.events[0].epsilon == pytest.approx(0.05 * 5 / 5.3)
    proven = Sparsifier(inner, **asked, alpha=2.6, beta=7.9, calibration="proven")
    assert Budget(proven.schedule(facts()), **how).events[0].epsilon == pytest.approx(0.05)
    with pytest.raises(ValueError, match="below beta"):
        Sparsifier(inner, **asked, alpha=30.0).schedule(facts())
    with pytest.raises(ValueError, match="bound a count"):
        Sparsifier(inner, n_nonzero=3, alpha=2.0)


def test_rho_in_the_place_of_epsilon():
    rho = 0.02
    for solver in (IGHT(n_steps=5), IGHT(n_steps=5, calibration="proven"), NoisyGD(n_steps=5)):
        record = fitted(solver, rho=rho).privacy_
        mu = math.sqrt(sum(event["mu"] ** 2 for event in record.events))
        assert 0.998 * rho < mu**2 / 2 <= rho
        assert record.epsilon == record.proven_epsilon < rho + 2 * math.sqrt(rho * math.log(1e4))
        assert any("rho = 0.02" in note for note in record.notes)
    # As published: sigma^2 = T G^2 / (n^2 rho), Theorem 5.2, whose cost is twice rho.
    with pytest.warns(UnprovenGuarantee):
        record = fitted(IGHT(n_steps=5, calibration="published"), rho=rho).privacy_
    assert record.events[0]["multiplier"] == pytest.approx(math.sqrt(5 / rho))
    assert record.epsilon == pytest.approx(rho + 2 * math.sqrt(rho * math.log(1e4)))


def test_rho_is_refused_where_it_cannot_be_held():
    with pytest.raises(ValueError, match="all Gaussian"):
        fitted("objective_perturbation", rho=0.1)
    # Nor does a paper with Laplace noise claim any rho.
    with pytest.raises(ValueError, match="all Gaussian"):
        fitted(FrankWolfe(n_steps=3, calibration="published"), rho=0.1)
    for wrong in (0, -1.0, math.inf, math.nan, True, "1"):
        with pytest.raises(ValueError, match="rho must be"):
            fitted("ight", rho=wrong)
    with pytest.raises(ValueError, match="not both"):
        fitted("ight", rho=0.1, epsilon=1.0)
    with pytest.raises(ValueError, match="holdout"):
        fitted("ight", rho=0.1, holdout=0.2)
    with pytest.raises(ValueError, match="no epsilon"):
        epsilon_of(1e-12, 1e-2, claimed=False)


def test_what_is_calibrated_to_the_epsilon_of_rho_costs_rho():
    for rho, delta in ((1e-4, 1e-6), (0.5, 1e-5), (20.0, 1e-2)):
        epsilon = epsilon_of(rho, delta, claimed=False)
        schedule = NoisyGD(n_steps=3, calibration="proven").schedule(facts())
        events = Budget(schedule, epsilon=epsilon, delta=delta, neighbors="replace_one").events
        assert 0.99 * rho < zcdp_rho(events) <= rho

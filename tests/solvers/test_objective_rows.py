"""Perturbed minima of people and weighted rows: which rows count, how much, who is refused."""

import dataclasses

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from sparsedp.audit.replay import largest_movements
from sparsedp.data.dataset import Dataset
from sparsedp.losses import Logistic
from sparsedp.mechanisms import NoiselessCurator, recording
from sparsedp.mechanisms.scripted import Scripted, ScriptedCurator
from sparsedp.privacy import PublicFacts
from sparsedp.solvers import ADMM, ObjectivePerturbation, Sparsifier, TwoStage
from sparsedp.solvers.objective import regularized
from sparsedp.solvers.objective.regularized import RegularizedObjective
from tests.cases import BOUNDS, LOSSES, corner_records, declared, public_facts, random_table
from tests.solved import recorded, solved

PERTURBED = {
    "objective": ObjectivePerturbation(rows_per_person=2),
    "admm": ADMM(n_steps=2, noise="pure", rows_per_person=2),
    "sparsifier": Sparsifier(ObjectivePerturbation(rows_per_person=2), n_nonzero=2),
}


def people(loss: str, neighbors: str = "add_remove", n_persons: int = 40) -> PublicFacts:
    facts = public_facts(loss, neighbors, n_persons)
    return dataclasses.replace(facts, unit="person", rows_per_unit=None)


def clipped(table, groups=None, sample_weight=None) -> Dataset:
    given = {"groups": groups, "sample_weight": sample_weight}
    return Dataset.clip(table.X, table.y, BOUNDS, **declared(table.loss), **given)


@pytest.mark.parametrize("name", PERTURBED)
@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_only_the_first_rows_of_a_person_count(name, loss):
    """What is proven for two rows of each person must not see the third."""
    solver, how = PERTURBED[name], {"epsilon": 3.0, "seed": 4}
    table, groups = random_table(loss, 60, 3), np.arange(60) * 7 % 17  # three rows or four each
    place = np.array([np.sum(groups[:i] == groups[i]) for i in range(60)])
    first = dataclasses.replace(table, X=table.X[place < 2], y=table.y[place < 2])
    one = solved(solver, clipped(table, groups), LOSSES[loss], people(loss), **how)
    two = solved(solver, clipped(first, groups[place < 2]), LOSSES[loss], people(loss), **how)
    np.testing.assert_array_equal(one.weights, two.weights)
    three = ObjectivePerturbation(rows_per_person=3)
    if name == "objective":
        other = solved(three, clipped(table, groups), LOSSES[loss], people(loss), **how)
        assert (other.weights != one.weights).any()


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("name", ["objective", "admm"])
def test_one_row_each_is_a_fit_of_rows(name, neighbors):
    solver = {
        "objective": ObjectivePerturbation(rows_per_person=1),
        "admm": ADMM(n_steps=2, noise="pure", rows_per_person=1),
    }[name]
    table, how = random_table("logistic", 40, 5), {"epsilon": 2.0, "seed": 6}
    rows = public_facts("logistic", neighbors, 40)
    one = solved(
        solver, clipped(table, range(40)), Logistic(), people("logistic", neighbors), **how
    )
    two = solved(solver, clipped(table), Logistic(), rows, **how)
    np.testing.assert_array_equal(one.weights, two.weights)


@pytest.mark.parametrize("loss", ["logistic", "squared", "multinomial"])
@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_a_person_moves_the_gradient_by_no_more_than_a_row(loss, neighbors):
    """People of up to five rows at corners of the domain, under a cap of three; seeds 11 and 12."""
    solver = ObjectivePerturbation(rows_per_person=3, row_norm=7**0.5)
    worst = 0.0
    for seed, epsilon in ((11, 1.0), (12, 300.0)):
        base, corners = random_table(loss, 25, seed), corner_records(loss, seed)
        for start, m in enumerate((1, 5, 3, 4, 1, 5, 3, 2, 1, 4, 5, 2)):
            # The same row several times, or different ones with other targets.
            one = clipped_with(base, [corners[start]] * m if start % 3 else corners[start:][:m])
            rows = [corners[(start * 7 + 3) % len(corners)]] * (6 - m)
            other = clipped_with(base, [] if neighbors == "add_remove" else rows)
            facts = people(loss, neighbors, 9 if neighbors == "add_remove" else 10)
            how = {"epsilon": epsilon, "delta": 1e-3, "seed": seed}
            _, queries, _ = recorded(solver, one, LOSSES[loss], facts, **how)
            script = Scripted([query.answer for query in queries])
            curator, again = recording.recorded(ScriptedCurator(facts, script))
            solver.solve(other, LOSSES[loss], curator)
            worst = max(worst, *largest_movements(queries, again, neighbors).values())
    assert 0.5 < worst <= 1 + 1e-9


def clipped_with(base, rows) -> Dataset:
    """The base with the rows of one more person."""
    groups = np.append(np.arange(len(base.y)) % 9, np.full(len(rows), 99))
    for x, y in rows:
        base = base.with_record(x, y)
    return clipped(base, groups)


class TestWeights:
    def test_without_noise_it_is_the_weighted_optimum(self):
        table, random = random_table("logistic", 200, 4), np.random.default_rng(5)
        weights = random.integers(0, 5, 200) / 4  # exact in units of 2**-30
        data = clipped(table, sample_weight=weights)
        facts = public_facts("logistic", "add_remove", 0)
        found = ObjectivePerturbation(regularization=2.0).solve(
            data, Logistic(), NoiselessCurator(facts)
        )
        X, C = data.columns(np.arange(7)), 1 / (2.0 * data.norm_bound**2 / 4)
        exact = LogisticRegression(C=C, fit_intercept=False, tol=1e-10, max_iter=10_000)
        exact.fit(X, table.y, sample_weight=weights)
        np.testing.assert_allclose(found.weights, exact.coef_[0], atol=1e-6)

    @pytest.mark.parametrize("newton_steps", [0, 100])
    @pytest.mark.parametrize("l1", [0.0, 4.0])
    @pytest.mark.parametrize("loss", ["logistic", "squared", "multinomial"])
    def test_certificate(self, loss, l1, newton_steps, monkeypatch):
        """Both methods reach the minimum of weighted people."""
        monkeypatch.setattr(regularized, "MOST_NEWTON_STEPS", newton_steps)
        data = clipped(random_table(loss, 150, 3), np.arange(150) % 37, np.arange(150) % 5 / 4)
        objective = RegularizedObjective(
            data, LOSSES[loss].bounded(0.5), row_norm=1.8, l1=l1, relative_regularization=1.0
        )
        linear = np.random.default_rng(8).normal(size=objective.weights_shape)
        w = objective.minimum(linear, 0.5, 1e-8)
        gradient = objective.gradient(w) + linear + 0.5 * w
        penalty = np.full(w.shape, l1)
        penalty[-1] = 0.0
        assert (np.abs(gradient + penalty * np.sign(w)) < 1e-7)[w != 0].all()
        assert (np.abs(gradient) <= penalty + 1e-7)[w == 0].all()

    def test_the_value_is_that_of_the_gradient(self):
        """The search compares values: they must belong to the weighted sum too."""
        data = clipped(random_table("multinomial", 60, 3), np.arange(60) % 11)
        objective = RegularizedObjective(
            data, LOSSES["multinomial"], row_norm=1.8, l1=0.0, relative_regularization=1.0
        )
        random = np.random.default_rng(2)
        w, step = random.normal(size=(2, *objective.weights_shape))
        values = [objective._loss(objective._margins(w + t * step)) for t in (-1e-5, 1e-5)]
        slope = np.vdot(objective.gradient(w), step)
        assert (values[1] - values[0]) / 2e-5 == pytest.approx(slope, rel=1e-5)


class TestRefused:
    @pytest.mark.parametrize(
        "solver",
        [
            ObjectivePerturbation(),
            TwoStage(),
            Sparsifier(ObjectivePerturbation(), n_nonzero=2),
        ],
    )
    def test_people_without_a_cap(self, solver):
        solver.schedule(public_facts("logistic", "add_remove", 0))
        with pytest.raises(ValueError, match="rows_per_person=10"):
            solver.schedule(people("logistic"))

    def test_noise_of_papers_for_people(self):
        for solver in (
            ObjectivePerturbation(calibration="published", rows_per_person=2),
            ADMM(noise="pure", calibration="published"),
        ):
            with pytest.raises(ValueError, match="for rows, not for people"):
                solver.schedule(people("logistic"))

    @pytest.mark.parametrize("rows", [0, -2, 1.5, True, "3", 10**7])
    def test_what_is_no_cap(self, rows):
        with pytest.raises(ValueError, match="rows"):
            ObjectivePerturbation(rows_per_person=rows)
        with pytest.raises(ValueError, match="rows"):
            ADMM(noise="pure", rows_per_person=rows)

    def test_a_cap_on_gaussian_steps(self):
        with pytest.raises(ValueError, match="noise='pure'"):
            ADMM(rows_per_person=2)


def test_what_is_asked_for_people():
    (request,) = (
        ObjectivePerturbation(rows_per_person=np.int64(5)).schedule(people("squared")).requests
    )
    assert (request.rows_per_unit, type(request.rows_per_unit)) == (5, int)
    inner = TwoStage(solver=ObjectivePerturbation(rows_per_person=5)).schedule(people("logistic"))
    assert inner.requests[-1].rows_per_unit == 5
    for cap in (None, 4):
        pure = ADMM(noise="pure", rows_per_person=cap)
        assert pure.schedule(people("logistic")).requests[0].rows_per_unit == cap
        rows = public_facts("logistic", "add_remove", 0)
        assert pure.schedule(rows).requests[0].rows_per_unit == 1

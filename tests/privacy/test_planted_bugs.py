"""The classic bugs of private learning, planted in solvers: the common tests must catch each."""

from dataclasses import dataclass

import numpy as np
import pytest

from sparsedp.data.sums.losses import gradient_sum
from sparsedp.mechanisms.scripted import ControlFlowChanged
from sparsedp.privacy import Perturb, Schedule, Select, UnscheduledRelease
from sparsedp.sets import L1Ball
from sparsedp.solvers import FrankWolfe, Solution
from tests.cases import LOSSES, random_table
from tests.privacy.test_every_solver import movements, recorded_fit, replayed_fit


@dataclass(frozen=True)
class Plain:
    """Frank-Wolfe reduced to its bones, to be spoiled."""

    n_steps: int = 6

    def schedule(self, public):
        return Schedule((Select(self.n_steps),))

    def solve(self, data, loss, curator):
        ball, w = L1Ball(10.0), np.zeros(curator.public.weights_shape)
        for t in range(self.n_steps):
            bound = loss.residual_bound(w)
            scores = ball.scores(self.gradient(data, loss, w, bound))
            if self.stops(scores, t):
                break
            k = curator.select(scores, self.sensitivity(bound, data), signed=True)
            w = ball.step_toward(w, k, 2 / (t + 3))
        return Solution(weights=self.finish(w, data))

    def gradient(self, data, loss, w, bound):
        return gradient_sum(data, loss, w, bound)

    def sensitivity(self, bound, data):
        return bound

    def stops(self, scores, t):
        return False

    def finish(self, w, data):
        return w


class HalfTheReach(Plain):
    def sensitivity(self, bound, data):
        return bound / 2


class ForgottenClipping(Plain):
    def gradient(self, data, loss, w, bound):
        return data.rmatvec(3 * loss.residual(data.matvec(w), data.target))


class DividedByNTwice(Plain):
    """The scores are sums, but the sensitivity is declared as if they were means."""

    def sensitivity(self, bound, data):
        return bound / data.n_records


class StopsOnPrivateScores(Plain):
    def stops(self, scores, t):
        return t > 0 and np.abs(scores).max() < 6


class ScalesByTheData(Plain):
    def finish(self, w, data):
        return w / data.n_records


class PeeksAtTheTarget(Plain):
    def finish(self, w, data):
        return w + data.target.mean()


@pytest.mark.parametrize("loss", list(LOSSES))
@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("bug", [HalfTheReach, ForgottenClipping])
def test_understated_sensitivity_is_seen(bug, loss, neighbors):
    assert movements("", loss, neighbors, Plain())["select"] <= 1 + 1e-9
    assert movements("", loss, neighbors, bug())["select"] > 1.2


def test_factor_two_of_replace_one_is_seen():
    class AddRemoveReach(Plain):
        def sensitivity(self, bound, data):
            return bound / 2  # "one record changes the sum by its own term": not when replaced

    assert movements("", "logistic", "replace_one", AddRemoveReach())["select"] > 1.2


def test_noise_divided_by_n_twice_is_seen():
    with pytest.raises(ControlFlowChanged):  # the declared number itself depends on the data
        movements("", "logistic", "add_remove", DividedByNTwice())
    assert movements("", "logistic", "replace_one", DividedByNTwice())["select"] > 10


def test_early_stop_on_private_scores_is_seen():
    with pytest.raises(ControlFlowChanged):
        movements("", "logistic", "add_remove", StopsOnPrivateScores())


@pytest.mark.parametrize("bug", [ScalesByTheData, PeeksAtTheTarget])
def test_leak_around_the_door_is_seen(bug):
    one = random_table("logistic", 30, 1).dataset()
    other = random_table("logistic", 31, 2).dataset()
    solution, queries = recorded_fit(bug(), one, "logistic", "add_remove", 3, 1.0)
    again, _ = replayed_fit(bug(), other, "logistic", "add_remove", queries)
    assert solution.weights.tobytes() != again.weights.tobytes()


def test_more_or_less_than_the_schedule_raises():
    class Greedy(Plain):
        def schedule(self, public):
            return Schedule((Select(self.n_steps - 1),))

    class Idle(Plain):
        def schedule(self, public):
            return Schedule((Select(self.n_steps), Perturb()))

    data = random_table("logistic", 30, 1).dataset()
    for bug in (Greedy(), Idle()):
        with pytest.raises(UnscheduledRelease):
            recorded_fit(bug, data, "logistic", "add_remove", 3, 1.0)
    recorded_fit(FrankWolfe(n_steps=3), data, "logistic", "add_remove", 3, 1.0)

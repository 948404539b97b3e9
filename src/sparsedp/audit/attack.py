"""Run a solver many times on two neighbors, through the real door, and see what tells them apart.

Two kinds of evidence come from the same runs. *Losses*: each run's answers are replayed on the
neighbor, which gives the exact privacy loss of the whole fit; sharp, but it trusts that the door
draws the noise it says. *Events*: how often a statistic passes a threshold on either side; blunter,
but it trusts nothing.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np

from sparsedp.audit.likelihood import choice_probabilities, privacy_loss
from sparsedp.audit.lower_bound import (
    Binomial,
    Event,
    best_event,
    delta_from_losses,
    epsilon_from_losses,
)
from sparsedp.audit.neighbors import Pair
from sparsedp.audit.replay import largest_movements
from sparsedp.data.dataset import Dataset
from sparsedp.fit.plan import Plan
from sparsedp.fit.solve import door
from sparsedp.losses import Loss
from sparsedp.mechanisms import Curator, KeyStream
from sparsedp.mechanisms.questions.question import Query
from sparsedp.mechanisms.recording import recorded
from sparsedp.mechanisms.scripted import ControlFlowChanged, Scripted, ScriptedCurator
from sparsedp.privacy import Budget, PublicFacts
from sparsedp.solvers import Solution, Solver

ROUNDING = 1e-9
"""By this much a query may exceed its declared sensitivity: sums in floating point."""

CONSTANT = 1e-5
"""Scores that differ by less, relative to the largest, count as the same in an enumeration."""

Door = Callable[[Budget, PublicFacts, KeyStream], AbstractContextManager[Curator]]
Answer = int | float | np.ndarray
Statistic = Callable[[Solution], float]


@dataclass(frozen=True)
class Run:
    """One private fit and what its replay on the neighbor showed."""

    solution: Solution
    queries: tuple[Query, ...]
    loss: float
    """Privacy loss; infinite if with the same answers the neighbor gives something else."""
    movement: float
    """Largest movement of a query over what was declared."""
    fault: str | None
    """What broke the contract of the door, if anything did."""


@dataclass(frozen=True)
class Evidence:
    """All runs of an attack, reduced to numbers.

    Parameters
    ----------
    losses : tuple of ndarray
        Privacy losses of runs on the one table, and of runs on the other.
    statistics : tuple of ndarray
        What events are made of; the log-likelihood ratio unless another statistic was asked for.
    movement : float
        Largest movement of a query over what was declared.
    faults : tuple of str
        What broke the contract of the door.
    """

    losses: tuple[np.ndarray, np.ndarray]
    statistics: tuple[np.ndarray, np.ndarray]
    movement: float
    faults: tuple[str, ...]

    def epsilon(self, delta: float, error: float) -> float:
        """Lower bound on epsilon, the best of losses in both directions and of events."""
        bounds = [epsilon_from_losses(losses, delta, error / 3) for losses in self.losses]
        return max(*bounds, self.event(delta, error / 3).epsilon(delta, error / 3))

    def delta(self, epsilon: float, delta: float, error: float) -> float:
        """Lower bound on delta at epsilon; the claimed delta helps to find the best event."""
        bounds = [delta_from_losses(losses, epsilon, error / 3, delta) for losses in self.losses]
        return max(*bounds, self.event(delta, error / 3).delta(epsilon, error / 3))

    def divergence(self) -> float:
        """Estimated Kullback-Leibler divergence in the worse direction: how much a pair tells.

        Its mean is that of the losses, as exp(-loss) has mean one, but it varies far less.
        """
        finite = [np.minimum(losses, 1e3) for losses in self.losses]
        return max(float(np.mean(losses + np.expm1(-losses))) for losses in finite)

    def event(self, delta: float, error: float) -> Event:
        """The event that tells most, chosen on one half of the runs and counted on the other."""
        return best_event(*self.statistics, delta, error)


@dataclass(frozen=True)
class Attack:
    """A solver, a claim and a pair of neighbors.

    Parameters
    ----------
    solver : Solver
    loss : Loss
    pair : Pair
    epsilon, delta : float
        What is claimed.
    door : callable, optional
        Opens the curator of a run; another than that of every fit only to test the audit itself.
    """

    solver: Solver
    loss: Loss
    pair: Pair
    epsilon: float
    delta: float
    door: Door = door

    @property
    def plan(self) -> Plan:
        """What the solver asks for, on either table."""
        return Plan.of(self.solver, self.loss, self.pair.public(self.loss))

    def budget(self) -> Budget:
        """A fresh budget; calibration is done once and remembered."""
        return self.plan.budget(self.epsilon, self.delta)

    @property
    def calibration(self) -> str:
        """As the budget counts it, where both kinds that are proven are one, or as it is set."""
        counted = self.budget().calibration
        return "proven" if counted == "sound" and _set_to_proven(self.solver) else counted

    def record(self, data: Dataset, seed: bytes) -> tuple[Solution, list[Query]]:
        """One private fit whose queries are kept."""
        public, stream = self.pair.public(self.loss), KeyStream.from_seed(seed)
        with self.door(self.budget(), public, stream) as curator:
            recording, queries = recorded(curator)
            solution = self.solver.solve(data, self.loss, recording)
        return solution, queries

    def replay(self, data: Dataset, answers: Sequence[Answer]) -> tuple[Solution, list[Query]]:
        """The same fit on other data, with the recorded answers."""
        script = Scripted(list(answers))
        curator, queries = recorded(ScriptedCurator(self.pair.public(self.loss), script))
        solution = self.solver.solve(data, self.loss, curator)
        script.close()
        return solution, queries

    def run(self, seed: bytes, *, on_other: bool = False) -> Run:
        """One private fit on one table, replayed on its neighbor."""
        pair = self.pair.swapped() if on_other else self.pair
        solution, queries = self.record(pair.one, seed)
        try:
            again, asked = self.replay(pair.other, [query.answer for query in queries])
            movements = largest_movements(queries, asked, pair.neighbors)
        except ControlFlowChanged as change:
            return Run(solution, tuple(queries), math.inf, math.inf, f"control flow: {change}")
        loss = privacy_loss(queries, asked, self.budget(), pair.neighbors)
        fault = None
        if _held(again) != _held(solution):
            loss, fault = math.inf, "the output depends on the data past the door"
        movement = max(movements.values(), default=0.0)
        if movement > 1 + ROUNDING and fault is None:
            fault = f"a query moves {movement:.3g} times as far as declared"
        return Run(solution, tuple(queries), loss, movement, fault)

    def evidence(
        self,
        runs: int,
        seed: int,
        *,
        statistic: Statistic | None = None,
        on_run: Callable[[], None] | None = None,
    ) -> Evidence:
        """Run on both tables.

        Parameters
        ----------
        runs : int
            On each of the two tables.
        seed : int
            Every run has a key stream of its own, derived from it.
        statistic : callable, optional
            A number computed from the solution, for events; by default the log-likelihood ratio
            of the answers, which no other statistic of the answers beats.
        on_run : callable, optional
            Called after every run.
        """
        losses: tuple[list[float], list[float]] = [], []
        statistics: tuple[list[float], list[float]] = [], []
        faults: set[str] = set()
        movement = 0.0
        for i in range(runs):
            for on_other in (False, True):
                run = self.run(
                    f"{seed}/{self.pair.name}/{on_other}/{i}".encode(), on_other=on_other
                )
                losses[on_other].append(run.loss)
                ratio = -run.loss if on_other else run.loss
                statistics[on_other].append(ratio if statistic is None else statistic(run.solution))
                movement = max(movement, run.movement)
                if run.fault is not None:
                    faults.add(run.fault)
                if on_run is not None:
                    on_run()
        return Evidence(
            (np.array(losses[0]), np.array(losses[1])),
            (np.array(statistics[0]), np.array(statistics[1])),
            movement,
            tuple(sorted(faults)[:1]),
        )

    def enumerate(self) -> Binomial:
        """The exact law of the privacy loss, where a fit is a row of like coin flips.

        That is so if all selections see the same scores, whatever was chosen before, and the
        candidates fall into two groups of equal loss: tied vertices that a record moves up and
        down. No sampling then: what comes out is exact. Whether the scores stay the same is
        checked on a random path and where one candidate is chosen all the time.
        """
        _, queries = self.record(self.pair.one, b"enumerate")
        n_candidates = queries[0].values.size * (2 if "signed" in queries[0].settings else 1)
        _, asked = self.replay(self.pair.other, [query.answer for query in queries])
        first, other = queries[0], asked[0]
        seen = [(queries, first), (asked, other)]
        for k in range(min(n_candidates, 8)):
            script = [k] * len(queries)
            seen.append((self.replay(self.pair.one, script)[1], first))
            seen.append((self.replay(self.pair.other, script)[1], other))
        for asked, start in seen:
            for query in asked:
                if query.kind != "select" or not _close(query.values, start.values):
                    raise ValueError("only like selections with constant scores can be enumerated")
        neighbors = self.pair.neighbors
        p, q = (choice_probabilities(query, self.budget(), neighbors) for query in (first, other))
        ratios = np.log(p) - np.log(q)
        rising = ratios > (ratios.max() + ratios.min()) / 2
        for group in (ratios[rising], ratios[~rising]):
            if np.ptp(group) > CONSTANT:
                raise ValueError("the candidates fall into more than two groups")
        return Binomial.of(float(p[rising].sum()), float(q[rising].sum()), len(queries))


def _held(solution: Solution) -> list[object]:
    """The model, bit for bit."""
    bends = [(b.feature, b.knots.tobytes(), b.heights.tobytes()) for b in solution.bends]
    pairs = [(pair.features, pair.weights.tobytes()) for pair in solution.interactions]
    return [solution.weights.tobytes(), *bends, *pairs]


def _close(values: np.ndarray, start: np.ndarray) -> bool:
    return bool(np.abs(values - start).max() <= CONSTANT * np.abs(start).max())


def _set_to_proven(solver: Solver) -> bool:
    """Whether a solver runs a paper's steps with noise that is proven."""
    return vars(solver).get("calibration") == "proven"

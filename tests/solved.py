"""Solvers on records behind the gate, through the one door there is (sparsedp.fit.solve)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sparsedp.fit import Plan
from sparsedp.fit.solve import door, private_solution
from sparsedp.mechanisms import KeyStream, recording
from sparsedp.mechanisms.questions.question import Query
from sparsedp.privacy import Budget, PublicFacts
from sparsedp.solvers import Solution, Solver


def solved(
    solver: Solver,
    data: Any,
    loss: Any,
    public: PublicFacts,
    *,
    epsilon: float,
    seed: int,
    delta: float = 1e-6,
) -> Solution:
    """A private fit; raises unless what was released is what was scheduled."""
    plan = Plan.of(solver, loss, public)
    stream = KeyStream.from_seed(seed)
    return private_solution(plan, plan.budget(epsilon, delta), data, stream)


def recorded(
    solver: Solver,
    data: Any,
    loss: Any,
    public: PublicFacts,
    *,
    epsilon: float,
    seed: int,
    delta: float = 1e-6,
) -> tuple[Solution, list[Query], Budget]:
    """The same, with its queries and its budget."""
    budget = Plan.of(solver, loss, public).budget(epsilon, delta)
    with door(budget, public, KeyStream.from_seed(seed)) as curator:
        watched, queries = recording.recorded(curator)
        solution = solver.solve(data, loss, watched)
    return solution, queries, budget


@dataclass
class OneChanged:
    """Answers of which one, counted from the first, is changed before anybody sees it."""

    inner: Any
    number: int
    change: Callable[[Any], Any]
    noiseless = False

    def quick(self, walk):
        return self.inner.quick(walk)

    def answer(self, question, event, name):
        found = self.inner.answer(question, event, name)
        self.number -= 1
        return self.change(found) if self.number == -1 else found

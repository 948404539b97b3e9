"""One audit, from a solver and its claim to a verdict."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

from sparsedp.audit.attack import Attack, Statistic
from sparsedp.audit.neighbors import Pair, worst_pairs
from sparsedp.losses import Loss
from sparsedp.privacy import Neighbors
from sparsedp.solvers import Solver

Verdict = Literal["passed", "violated", "contract broken"]

CONFIDENCE = 1 - 1e-6
"""A sound method is convicted by bad luck once in a million audits at most."""

PILOT_PART = 0.04
"""Part of the runs that is spent on each pair, to find the one that tells most."""


SATURATING = 300.0
"""With so much epsilon weights run to where losses are steepest; else a factor two can hide."""


class Refused(ValueError):
    """A solver does not take this loss, or its probabilities cannot be computed."""


@dataclass(frozen=True)
class AuditResult:
    """What an audit found.

    Parameters
    ----------
    method : str
        The solver.
    loss : str
    calibration : {"sound", "proven", "published"}
    neighbors : {"add_remove", "replace_one"}
    epsilon, delta : float
        What is claimed.
    epsilon_lower_bound : float
        No smaller epsilon is true at the claimed delta, with the stated confidence.
    delta_lower_bound : float
        No smaller delta is true at the claimed epsilon, with the stated confidence.
    movement : float
        Largest movement of a query between neighbors, over what was declared.
    fault : str or None
        How the contract of the door was broken.
    pair : str
        The neighbors that told most.
    runs : int
        On each of them; 0 if the result is exact.
    confidence : float
    """

    method: str
    loss: str
    calibration: str
    neighbors: Neighbors
    epsilon: float
    delta: float
    epsilon_lower_bound: float
    delta_lower_bound: float
    movement: float
    fault: str | None
    pair: str
    runs: int
    confidence: float

    @property
    def verdict(self) -> Verdict:
        """A violation is proven; "passed" means that these attacks found nothing."""
        if self.epsilon_lower_bound > self.epsilon or self.delta_lower_bound > self.delta:
            return "violated"
        return "passed" if self.fault is None else "contract broken"

    def to_dict(self) -> dict[str, str | float | None]:
        """JSON-ready form; an infinite bound becomes null."""
        content = asdict(self) | {"verdict": self.verdict}
        return {
            key: None if isinstance(value, float) and math.isinf(value) else value
            for key, value in content.items()
        }


def audit(
    solver: Solver,
    loss: Loss,
    epsilon: float,
    delta: float,
    neighbors: Neighbors = "add_remove",
    *,
    runs: int = 300,
    seed: int = 0,
    confidence: float = CONFIDENCE,
    pairs: Sequence[Pair] | None = None,
    statistic: Statistic | None = None,
    name: str | None = None,
    on_run: Callable[[], None] | None = None,
) -> AuditResult:
    """Attack a solver on the worst neighbors there are, and bound its epsilon from below.

    Parameters
    ----------
    solver : Solver
    loss : Loss
    epsilon, delta : float
        What is claimed. Moderate claims, (2, 0.01) for example, are the easiest to refute.
    neighbors : {"add_remove", "replace_one"}
    runs : int
        Fits on each table of the pair that tells most.
    seed : int
        Of all noise: an audit can be repeated.
    confidence : float
        Of the bounds, both together.
    pairs : sequence of Pair, optional
        Neighbors to try instead of `worst_pairs`.
    statistic : callable, optional
        A number computed from the solution, where what leaks is not among the answers.
    name : str, optional
        How to call the solver.
    on_run : callable, optional
        Called after every fit.

    Returns
    -------
    AuditResult

    Raises
    ------
    Refused
        The solver does not take this loss.

    Notes
    -----
    *Privacy.* Tables are synthetic: an audit sees no private data. It can refute a guarantee, not
    prove one; the notes beside the solvers do that.
    """
    tried = worst_pairs(loss, neighbors) if pairs is None else pairs
    usable = _usable([Attack(solver, loss, pair, epsilon, delta) for pair in tried])
    n_pilot = max(3, round(PILOT_PART * runs))
    pilots = [attack.evidence(n_pilot, seed - 1, on_run=on_run) for attack in usable]
    best = max(range(len(usable)), key=lambda i: pilots[i].divergence())
    attack = usable[best]
    evidence = attack.evidence(runs, seed, statistic=statistic, on_run=on_run)
    replays = [*pilots, evidence]
    if attack.budget().calibration == "sound":
        replays += [replace(each, epsilon=SATURATING).evidence(1, seed) for each in usable]
    faults = [fault for found in replays for fault in found.faults]
    error = (1 - confidence) / 2
    return _result(
        attack,
        name,
        bounds=(evidence.epsilon(delta, error), evidence.delta(epsilon, delta, error)),
        movement=max(found.movement for found in replays),
        fault=faults[0] if faults else None,
        runs=runs,
        confidence=confidence,
    )


def _usable(attacks: Sequence[Attack]) -> list[Attack]:
    """Those whose settings suit the loss and the shape of their pair."""
    usable, reason = [], ""
    for attack in attacks:
        try:
            attack.run(b"usable")
            usable.append(attack)
        except ValueError as error:
            reason = str(error)
    if not usable:
        raise Refused(reason)
    return usable


def _result(
    attack: Attack,
    name: str | None,
    *,
    bounds: tuple[float, float],
    movement: float,
    fault: str | None,
    runs: int,
    confidence: float,
) -> AuditResult:
    """What was found, under the name of what was attacked."""
    return AuditResult(
        method=name or type(attack.solver).__name__,
        loss=type(attack.loss).__name__.lower(),
        calibration=attack.calibration,
        neighbors=attack.pair.neighbors,
        epsilon=attack.epsilon,
        delta=attack.delta,
        epsilon_lower_bound=bounds[0],
        delta_lower_bound=bounds[1],
        movement=movement,
        fault=fault,
        pair=attack.pair.name,
        runs=runs,
        confidence=confidence,
    )


def enumerated(
    solver: Solver,
    loss: Loss,
    epsilon: float,
    delta: float,
    pair: Pair,
    *,
    name: str | None = None,
) -> AuditResult:
    """The exact result for one pair whose fits are rows of like coin flips: no sampling.

    Parameters
    ----------
    solver, loss, epsilon, delta, name
        As for `audit`.
    pair : Pair
        Such that all selections see the same scores (see `Attack.enumerate`).
    """
    attack = Attack(solver, loss, pair, epsilon, delta)
    law = attack.enumerate()
    run = attack.run(b"replay")
    bounds = law.epsilon(delta), law.delta(epsilon)
    return _result(
        attack,
        name,
        bounds=bounds,
        movement=run.movement,
        fault=run.fault,
        runs=0,
        confidence=1.0,
    )

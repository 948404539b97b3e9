"""Record every query of a fit, replay the answers on a neighbor, and compare: no statistics needed.

If a solver is honest, then with the same answers it asks the same questions on any data, and on a
neighbor no question moves by more than was declared. Both are checked to the last bit.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sparsedp.mechanisms import Curator, Objective, Walk, one_by_one
from sparsedp.mechanisms.walk.lazy import scores_along
from sparsedp.privacy import PublicFacts, Sensitivity


class ControlFlowChanged(AssertionError):
    """On other data, with the same answers, the solver asked something else."""


@dataclass
class WatchedObjective:
    """Passes everything on to an objective, and keeps the random linear term that it was given."""

    objective: Objective
    linear: np.ndarray | None = None
    """Drawn by the door; None where answers come from a script."""
    strength: float = 0.0
    """Of the quadratic regularization."""

    @property
    def weights_shape(self) -> tuple[int, ...]:
        """Shape of the weights."""
        return self.objective.weights_shape

    @property
    def gradient_bound(self) -> float:
        """L2 bound on one record's gradient."""
        return self.objective.gradient_bound

    @property
    def curvature(self) -> float:
        """Bound on the curvature of one record's loss."""
        return self.objective.curvature

    @property
    def regularization(self) -> float:
        """Curvature of the regularization where there is no noise to choose it."""
        return self.objective.regularization

    def gradient(self, weights: np.ndarray) -> np.ndarray:
        """Sum of the records' gradients (private)."""
        return self.objective.gradient(weights)

    def minimum(self, linear: np.ndarray, regularization: float, tolerance: float) -> np.ndarray:
        """The perturbed minimum (private)."""
        self.linear, self.strength = np.array(linear), regularization
        return self.objective.minimum(linear, regularization, tolerance)


@dataclass(frozen=True)
class Query:
    """One crossing of the door."""

    kind: str
    values: np.ndarray
    """What was asked about (private)."""
    declared: Sensitivity
    settings: tuple[Any, ...]
    """Everything else that was said: must not depend on the data."""
    answer: Any
    excluded: np.ndarray | None = None
    name: str | None = None
    """The request of the schedule that it was charged to."""
    share: float = 1.0
    """Part of that request's budget, for Gaussian releases."""
    objective: WatchedObjective | None = None
    """What was minimized."""

    def movement(self, other: "Query") -> float:
        """How far the query moved: L2 norm, or the range over candidates for selections."""
        change = self.values - other.values
        if self.kind in ("perturb", "minimize"):
            return float(np.linalg.norm(change))
        if self.excluded is not None:
            change = np.delete(change, self.excluded)
        if "signed" in self.settings:
            change = np.concatenate([change, -change])
        return float(change.max() - change.min())


@dataclass
class RecordingCurator:
    """Passes every question on to another curator and keeps a copy."""

    curator: Curator
    queries: list[Query] = field(default_factory=list)

    @property
    def public(self) -> PublicFacts:
        """The facts that need no protection."""
        return self.curator.public

    @property
    def noiseless(self) -> bool:
        """Whether answers are exact."""
        return self.curator.noiseless

    def select(
        self,
        scores: np.ndarray,
        reach: float | Sensitivity,
        *,
        signed: bool = False,
        excluded: np.ndarray | None = None,
        name: str | None = None,
    ) -> int:
        """Record one selection."""
        answer = self.curator.select(scores, reach, signed=signed, excluded=excluded, name=name)
        self._keep(
            "select",
            scores,
            Sensitivity.of_scores(reach),
            ("signed",) * signed,
            name,
            answer,
            excluded,
        )
        return answer

    def select_many(
        self,
        scores: np.ndarray,
        reach: float | Sensitivity,
        count: int,
        *,
        excluded: np.ndarray | None = None,
        name: str | None = None,
    ) -> np.ndarray:
        """Record a top-k selection."""
        answer = self.curator.select_many(scores, reach, count, excluded=excluded, name=name)
        self._keep(
            "select_many", scores, Sensitivity.of_scores(reach), (count,), name, answer, excluded
        )
        return answer

    def select_along(self, walk: Walk, count: int, *, name: str | None = None) -> np.ndarray:
        """Record a walk selection by selection.

        The compiled kernel takes its walk as it always does; it is then asked for all scores along
        the way, of which it may have computed none.
        """
        quick = walk.compact()
        if quick is None:
            return one_by_one(self, walk, count, name=name)
        chosen = self.curator.select_along(walk, count, name=name)
        declared = Sensitivity.of_scores(quick.bound)
        for scores, answer in zip(scores_along(quick, chosen), chosen, strict=True):
            self._keep("select", scores, declared, ("signed",), name, int(answer))
        return chosen

    def perturb(
        self,
        values: np.ndarray,
        sensitivity: float | Sensitivity,
        *,
        share: float = 1.0,
        name: str | None = None,
    ) -> np.ndarray:
        """Record a Gaussian release."""
        answer = self.curator.perturb(values, sensitivity, share=share, name=name)
        declared = Sensitivity.of_sum(sensitivity)
        self._keep("perturb", values, declared, (share,), name, answer, share=share)
        return answer

    def noise_level(
        self, sensitivity: float | Sensitivity, *, share: float = 1.0, name: str | None = None
    ) -> float:
        """Record a question about noise: public, but replay must repeat it."""
        answer = self.curator.noise_level(sensitivity, share=share, name=name)
        declared = Sensitivity.of_sum(sensitivity)
        self._keep("noise_level", np.zeros(1), declared, (share,), name, answer)
        return answer

    def count(self, value: int, lower: int, upper: int, *, name: str | None = None) -> int:
        """Record a count; the door clips it, so the clipped value is what may move."""
        answer = self.curator.count(value, lower, upper, name=name)
        width = Sensitivity(add_remove=upper - lower, replace_one=upper - lower)
        clipped = np.array([min(max(value, lower), upper), 0.0])
        self._keep("count", clipped, width, (lower, upper), name, answer)
        return answer

    def minimize(self, objective: Objective, *, name: str | None = None) -> np.ndarray:
        """Record a perturbed minimum by the records' gradient at the released weights.

        That is what one record moves, and what the noise is made for.
        """
        watched = WatchedObjective(objective)
        answer = self.curator.minimize(watched, name=name)
        declared = Sensitivity.of_sum(objective.gradient_bound)
        settings = (objective.curvature, objective.regularization)
        gradient = objective.gradient(answer)
        self._keep("minimize", gradient, declared, settings, name, answer, objective=watched)
        return answer

    def partition(self, n_records: int, n_blocks: int) -> np.ndarray:
        """Record a secret partition: nothing crosses the door, but replay must repeat it."""
        answer = self.curator.partition(n_records, n_blocks)
        nothing = Sensitivity(add_remove=0.0, replace_one=0.0)
        self._keep("partition", np.zeros(1), nothing, (n_blocks,), None, answer)
        return answer

    def _keep(
        self,
        kind: str,
        values: np.ndarray,
        declared: Sensitivity,
        settings: tuple[Any, ...],
        name: str | None,
        answer: Any,
        excluded: np.ndarray | None = None,
        share: float = 1.0,
        objective: WatchedObjective | None = None,
    ) -> None:
        # Copies: the solver may go on to write into what it asked about and into the answer.
        values = np.array(values, dtype=float)
        self.queries.append(
            Query(
                kind,
                values,
                declared,
                (*settings, name, values.shape),
                answer.copy() if isinstance(answer, np.ndarray) else answer,
                None if excluded is None else np.array(excluded),
                name,
                share,
                objective,
            )
        )


@dataclass
class ScriptedCurator:
    """Answers from a fixed list, whatever is asked."""

    public: PublicFacts
    answers: list[Any]
    noiseless: bool = False

    def select(self, scores: np.ndarray, reach: Any, **how: Any) -> int:
        """The next answer."""
        return self._next()

    def select_many(self, scores: np.ndarray, reach: Any, count: int, **how: Any) -> np.ndarray:
        """The next answer."""
        return self._next()

    def select_along(self, walk: Walk, count: int, *, name: str | None = None) -> np.ndarray:
        """The next answers, one per step."""
        return np.array([self._next() for _ in range(count)], dtype=np.int64)

    def perturb(self, values: np.ndarray, sensitivity: Any, **how: Any) -> np.ndarray:
        """The next answer."""
        return self._next()

    def noise_level(self, sensitivity: Any, **how: Any) -> float:
        """The next answer."""
        return self._next()

    def count(self, value: int, lower: int, upper: int, **how: Any) -> int:
        """The next answer."""
        return self._next()

    def minimize(self, objective: Any, **how: Any) -> np.ndarray:
        """The next answer."""
        return self._next()

    def partition(self, n_records: int, n_blocks: int) -> np.ndarray:
        """The next answer; a record more gets a block too."""
        return np.resize(self._next(), n_records)

    def _next(self) -> Any:
        if not self.answers:
            raise ControlFlowChanged("more was asked than the script has answers for")
        answer = self.answers.pop(0)
        return answer.copy() if isinstance(answer, np.ndarray) else answer


def largest_movements(
    recorded: list[Query], replayed: list[Query], neighbors: str
) -> dict[str, float]:
    """Largest movement over declared sensitivity per kind of query; at most 1 if all is well."""
    if len(recorded) != len(replayed):
        raise ControlFlowChanged(f"{len(recorded)} queries became {len(replayed)}")
    ratios: dict[str, float] = {}
    for one, other in zip(recorded, replayed, strict=True):
        if (one.kind, one.declared, one.settings) != (other.kind, other.declared, other.settings):
            raise ControlFlowChanged(f"{one.kind} {one.settings} became {other.settings}")
        allowed = one.declared.under("add_remove" if neighbors == "add_remove" else "replace_one")
        moved = one.movement(other)
        ratio = moved / allowed if allowed else (0.0 if moved == 0 else float("inf"))
        ratios[one.kind] = max(ratios.get(one.kind, 0.0), ratio)
    return ratios

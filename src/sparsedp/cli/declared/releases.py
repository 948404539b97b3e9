"""What a fit will release and at which noise, for people and for programs."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from sparsedp.cli.declared.solver import build_solver, described
from sparsedp.privacy import Budget, PublicFacts
from sparsedp.privacy.account.feasibility import records_needed
from sparsedp.privacy.plain import Parsed
from sparsedp.release.card import call_text
from sparsedp.solvers.solver import guaranteed

GUMBEL_DEVIATION = math.pi / math.sqrt(6)
LAPLACE_DEVIATION = math.sqrt(2)


@dataclass(frozen=True)
class Releases:
    """A solver as it was named, with its budget."""

    solver: str
    settings: tuple[str, ...]
    calibration: str
    epsilon: float
    delta: float

    def planned(self, public: PublicFacts) -> tuple[Parsed, list[str]]:
        """The releases as data, and as lines."""
        public = replace(public, epsilon=self.epsilon, delta=self.delta)

        def budget(calibration: str) -> Budget:
            schedule = build_solver(self.solver, self.settings, calibration).schedule(public)
            return Budget(
                schedule, epsilon=self.epsilon, delta=self.delta, neighbors=public.neighbors
            )

        planned = budget(self.calibration)
        plans = [event.plan(public) for event in planned.events]
        releases = [
            {"name": name, **event.to_dict(), **plan.numbers}
            for name, event, plan in zip(planned.names, planned.events, plans, strict=True)
        ]
        solver = build_solver(self.solver, self.settings, self.calibration)
        content: Parsed = {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "neighbors": public.neighbors,
            "unit": public.unit,
            "solver": call_text(described(solver)),
            "calibration": self.calibration,
            "n_features": public.n_features,
            "n_nonzero": public.n_nonzero,
            "releases": releases,
            "proven_epsilon": planned.proven_epsilon(),
            "records_needed": records_needed(planned.events, public),
            "published": _published(budget, public, releases),
        }
        return content, _lines(content, [plan.lines for plan in plans])


def _published(
    budget: Callable[[str], Budget], public: PublicFacts, releases: list[Parsed]
) -> dict[str, float] | None:
    """The paper's noise for the same selections, where there is a paper."""
    try:
        events = budget("published").events
    except ValueError:
        return None
    rows: list[Parsed] = [{**event.to_dict(), **event.plan(public).numbers} for event in events]
    ours = next(
        (row["scale"] * GUMBEL_DEVIATION for row in releases if row["noise"] == "gumbel"), 0
    )
    scale = next((row["scale"] for row in rows if row["noise"] == "laplace"), 0)
    if not ours or not scale:
        return None
    return {"laplace_scale": scale, "times_ours": scale * LAPLACE_DEVIATION / ours}


def _lines(plan: Parsed, releases: list[tuple[str, ...]]) -> list[str]:
    lines = [
        f"Budget    epsilon = {plan['epsilon']:g}, delta = {plan['delta']:g}, {plan['neighbors']}",
        f"Protects  {'each person with all rows' if plan['unit'] == 'person' else 'single rows'}",
        f"Solver    {plan['solver']}",
        f"Features  {plan['n_features']}, of which a solver keeps at most {plan['n_nonzero']}",
        "Releases",
    ]
    for row, (first, *others) in zip(plan["releases"], releases, strict=True):
        lines += [f"  {row['name']}: {first}", *(f"    {text}" for text in others)]
    published = plan["published"]
    if published is not None:
        lines.append(
            f"    for comparison, the published Laplace noise has scale "
            f"{published['laplace_scale']:.4g}: {published['times_ours']:.2g} times the standard "
            "deviation"
        )
    lines.append(
        f"Records   with fewer than about {plan['records_needed']} nothing can be promised; real "
        "features need several times as many"
    )
    kind = "proven" if guaranteed(plan["calibration"]) else "proven, whatever the paper claims"
    lines.append(
        f"Cost      epsilon = {plan['proven_epsilon']:.4g} at delta = {plan['delta']:g} ({kind})"
    )
    return lines

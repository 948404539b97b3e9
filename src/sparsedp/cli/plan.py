"""``sparsedp plan``: what a fit will release and at which noise, before there are data."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from sparsedp.cli.options import json_option, privacy_options, solver_options

if TYPE_CHECKING:
    from sparsedp.privacy import Budget, Neighbors, PublicFacts
    from sparsedp.privacy.plain import Parsed

GUMBEL_DEVIATION = math.pi / math.sqrt(6)
LAPLACE_DEVIATION = math.sqrt(2)


@click.command("plan")
@privacy_options()
@click.option(
    "--n-features", type=click.IntRange(min=1), required=True, help="Features of the data."
)
@solver_options()
@json_option()
def command(
    epsilon: float,
    delta: float,
    neighbors: "Neighbors",
    n_features: int,
    n_nonzero: int | None,
    solver: str,
    settings: tuple[str, ...],
    calibration: str,
    as_json: bool,
) -> None:
    """Show what a fit will release, how noisy, at which cost.

    Needs no data: the plan depends on public settings only.
    """
    from sparsedp.cli.declared.solver import build_solver, described
    from sparsedp.cli.show import echo_json
    from sparsedp.privacy import Budget, PublicFacts
    from sparsedp.privacy.account.feasibility import records_needed
    from sparsedp.release.card import call_text

    default = min(n_features, max(1, round(1.5 * math.sqrt(n_features))))
    public = PublicFacts(n_features=n_features, n_nonzero=n_nonzero or default, neighbors=neighbors)

    def budget(calibration: str) -> Budget:
        schedule = build_solver(solver, settings, calibration).schedule(public)
        return Budget(schedule, epsilon=epsilon, delta=delta, neighbors=neighbors)

    planned = budget(calibration)
    plans = [event.plan(public) for event in planned.events]
    releases = [
        {"name": name, **event.to_dict(), **plan.numbers}
        for name, event, plan in zip(planned.names, planned.events, plans, strict=True)
    ]
    content = {
        "epsilon": epsilon,
        "delta": delta,
        "neighbors": neighbors,
        "solver": call_text(described(build_solver(solver, settings, calibration))),
        "calibration": calibration,
        "n_features": n_features,
        "n_nonzero": public.n_nonzero,
        "releases": releases,
        "proven_epsilon": planned.proven_epsilon(),
        "records_needed": records_needed(planned.events, public),
        "published": _published(budget, public, releases),
    }
    if as_json:
        echo_json(content)
        return
    for line in _lines(content, [plan.lines for plan in plans]):
        click.echo(line)


def _published(
    budget: Callable[[str], "Budget"], public: "PublicFacts", releases: "list[Parsed]"
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


def _lines(plan: "Parsed", releases: list[tuple[str, ...]]) -> list[str]:
    lines = [
        f"Budget    epsilon = {plan['epsilon']:g}, delta = {plan['delta']:g}, {plan['neighbors']}",
        f"Solver    {plan['solver']}",
        f"Features  {plan['n_features']}, of which a sparse solver keeps {plan['n_nonzero']}",
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
    kind = "proven" if plan["calibration"] == "sound" else "proven, whatever the paper claims"
    lines.append(
        f"Cost      epsilon = {plan['proven_epsilon']:.4g} at delta = {plan['delta']:g} ({kind})"
    )
    return lines

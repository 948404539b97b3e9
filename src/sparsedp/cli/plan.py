"""``sparsedp plan``: what a fit will release and at which noise, before there are data."""

import math
from typing import Any

import click

from sparsedp.cli.options import json_option, privacy_options, solver_options

EULER = 0.5772156649015329
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
    neighbors: Any,
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
    releases = [
        {"name": name, **event.to_dict(), **_noise(event.to_dict(), public)}
        for name, event in zip(planned.names, planned.events, strict=True)
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
        "published": _published(budget, releases),
    }
    if as_json:
        echo_json(content)
        return
    for line in _lines(content, public.n_columns):
        click.echo(line)


def _noise(event: dict[str, Any], public: Any) -> dict[str, Any]:
    """The noise of a release, in units of what one record can add (its reach)."""
    doubled = 1 if public.neighbors == "add_remove" else 2
    match event["event"]:
        case "Selections":
            scale = 2 * doubled / event["epsilon0"]
            floor = scale * (math.log(2 * public.n_columns) + EULER)
            return {"noise": "gumbel", "scale": scale, "noise_floor": floor}
        case "LaplaceSelections":
            floor = event["scale"] * (math.log(public.n_columns) + EULER)
            return {"noise": "laplace", "noise_floor": floor}
        case "Gaussians":
            return {"noise": "gaussian", "scale": doubled / event["mu"]}
        case "GaussianReleases":
            return {"noise": "gaussian", "scale": event["multiplier"]}
        case "PerturbedMinimum":
            return {"noise": "linear", "scale": 1 / event["mu"]}
        case "PureMinima":
            return {"noise": "linear", "scale": 1 / event["rate"]}
        case "LaplaceVotes":
            return {"noise": "votes"}
        case _:
            return {"noise": "geometric", "scale": 1 / event["epsilon"]}


def _published(budget: Any, releases: list[dict[str, Any]]) -> dict[str, float] | None:
    """The paper's noise for the same selections, where there is a paper."""
    try:
        events = [event.to_dict() for event in budget("published").events]
    except ValueError:
        return None
    ours = next(
        (row["scale"] * GUMBEL_DEVIATION for row in releases if row["noise"] == "gumbel"), 0
    )
    scale = next((row["scale"] for row in events if row["event"] == "LaplaceSelections"), 0)
    if not ours or not scale:
        return None
    return {"laplace_scale": scale, "times_ours": scale * LAPLACE_DEVIATION / ours}


def _lines(plan: dict[str, Any], n_columns: int) -> list[str]:
    lines = [
        f"Budget    epsilon = {plan['epsilon']:g}, delta = {plan['delta']:g}, {plan['neighbors']}",
        f"Solver    {plan['solver']}",
        f"Features  {plan['n_features']}, of which a sparse solver keeps {plan['n_nonzero']}",
        "Releases",
    ]
    for row in plan["releases"]:
        lines += [f"  {row['name']}: {text}" for text in _release(row, n_columns)[:1]]
        lines += [f"    {text}" for text in _release(row, n_columns)[1:]]
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


def _release(row: dict[str, Any], n_columns: int) -> list[str]:
    match row["noise"]:
        case "gumbel" | "laplace":
            return [
                f"{row['count']} selections, epsilon0 = {row['epsilon0']:.4g} each",
                f"{row['noise'].title()} noise of scale {row['scale']:.4g}, in units of what one "
                "record can add to a score",
                f"alone it lifts one of {2 * n_columns} candidates to about "
                f"{row['noise_floor']:.4g}: what is to be found needs more records",
            ]
        case "gaussian":
            cost = "nothing is proven" if row["mu"] is None else f"mu = {row['mu']:.4g} together"
            how = "each has" if "multiplier" in row else "like one with"
            return [
                f"Gaussian releases, {cost}",
                f"{how} noise of {row['scale']:.4g}, in units of one record's contribution",
            ]
        case "linear":
            return [
                "minimum of an objective with a random linear term",
                f"of size {row['scale']:.4g}, in units of one record's gradient",
            ]
        case "votes":
            return [
                f"{row['count']} features with the most votes, epsilon = {row['epsilon']:.4g}",
                f"Laplace noise of scale {row['scale']:.4g} votes",
            ]
        case _:
            return [
                f"{row['count']} count, epsilon = {row['epsilon']:.4g}",
                f"noise of {row['scale']:.4g} times the width of its public range",
            ]

"""``sparsedp plan``: what a fit will release and at which noise, before there are data."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import click

from sparsedp.cli.options import (
    json_option,
    limit_option,
    privacy_options,
    schema_options,
    shapes_option,
    solver_options,
    source,
    table_options,
)

if TYPE_CHECKING:
    from sparsedp.cli.declared.given import Said
    from sparsedp.cli.declared.source import Source
    from sparsedp.data.files.location import Location
    from sparsedp.privacy import Budget, Neighbors, PublicFacts, Shapes
    from sparsedp.privacy.plain import Parsed
    from sparsedp.solvers import Solver

GUMBEL_DEVIATION = math.pi / math.sqrt(6)
LAPLACE_DEVIATION = math.sqrt(2)


@click.command("plan")
@click.argument("data", type=source, required=False)
@privacy_options()
@click.option("--n-features", type=click.IntRange(min=1), help="Features of the data.")
@schema_options()
@solver_options()
@shapes_option()
@table_options()
@limit_option()
@json_option()
def command(
    data: "Location | None",
    epsilon: float,
    delta: float,
    neighbors: "Neighbors",
    n_features: int | None,
    n_nonzero: int | None,
    solver: str,
    shapes: "Shapes",
    settings: tuple[str, ...],
    calibration: str,
    as_json: bool,
    schema: str | None,
    file_format: str | None,
    delimiter: str | None,
    encoding: str,
    sheet: str | None,
    **said: Unpack["Said"],
) -> None:
    """Show what a fit will release, how noisy, at which cost.

    Needs no data: the plan depends on public settings only. With a schema whose [bounds] speak for
    columns that it does not name, DATA tell their names; no record is read.
    """
    from sparsedp.cli.declared.solver import build_solver, described
    from sparsedp.cli.declared.source import Source
    from sparsedp.cli.show import echo_json
    from sparsedp.fit.plan import shapes_in_force
    from sparsedp.privacy import Budget
    from sparsedp.privacy.account.feasibility import records_needed
    from sparsedp.release.card import call_text

    records = None if data is None else Source(data, file_format, delimiter, encoding, sheet)
    sound = build_solver(solver, settings, "sound")
    public = _facts(schema, said, records, n_features, sound)
    public = replace(
        public,
        n_nonzero=n_nonzero or public.n_nonzero,
        neighbors=neighbors,
        shapes=shapes_in_force(shapes, sound, intercept=public.intercept),
    )

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
        "unit": public.unit,
        "solver": call_text(described(build_solver(solver, settings, calibration))),
        "calibration": calibration,
        "n_features": public.n_features,
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


def _facts(
    schema: str | None,
    said: "Said",
    records: "Source | None",
    n_features: int | None,
    solver: "Solver",
) -> "PublicFacts":
    """What is public about a fit, by its schema and the names of columns alone."""
    from sparsedp.cli.declared.declared import Declared
    from sparsedp.fit.plan import default_size
    from sparsedp.privacy import PublicFacts

    n_outputs, unit, labelled = 1, "row", said["task"] in (None, "classification")
    if schema is not None:
        declared = Declared.read(schema, said)
        whole = declared.schema
        if records is not None and records.matrix is None and records.has_header:
            whole = declared.completed(records.table().names)
            n_features = whole.n_columns
        elif n_features is None and whole.is_open:
            raise ValueError(
                f"{declared.where} speaks for columns that it does not name: give DATA, of which "
                "only the names of columns are read, or --n-features"
            )
        n_features = n_features or whole.n_columns
        n_outputs = declared.n_outputs if declared.n_outputs > 2 else 1
        unit = "row" if whole.person is None else "person"
        labelled = declared.task == "classification"
    if n_features is None:
        raise click.UsageError("Missing option '--n-features' or '--schema'.")
    return PublicFacts(
        n_features=n_features,
        n_nonzero=default_size(n_features, solver, labelled=labelled),
        n_outputs=n_outputs,
        unit="row" if unit == "row" else "person",
        rows_per_unit=1 if unit == "row" else None,
    )


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
    kind = "proven" if plan["calibration"] == "sound" else "proven, whatever the paper claims"
    lines.append(
        f"Cost      epsilon = {plan['proven_epsilon']:.4g} at delta = {plan['delta']:g} ({kind})"
    )
    return lines

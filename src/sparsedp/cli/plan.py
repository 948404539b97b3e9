"""``sparsedp plan``: releases, noise and quality of a fit, before there are data."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from sparsedp.cli.declared.planned import Guessed, Settings, others_than_default, planning_options
from sparsedp.cli.options import (
    anywhere,
    existing,
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
    from sparsedp.planning import QualityPlan
    from sparsedp.privacy import Neighbors, PublicFacts, Shapes
    from sparsedp.solvers import Solver

DELTA = 1e-6
"""Where it is not given: a plan is no guarantee."""


@click.command("plan")
@click.argument("data", type=source, required=False)
@privacy_options(required=False)
@click.option("--n-features", type=click.IntRange(min=1), help="Features of the data.")
@schema_options()
@planning_options()
@click.option(
    "--holdout",
    type=click.FloatRange(min=0, max=1, min_open=True, max_open=True),
    help="Share of the records that is kept for private scores.",
)
@click.option("--public", type=source, metavar="FILE", help="A public sample, to fit the model to.")
@click.option("--ledger", type=existing, help="The budget that the fit will be charged to.")
@click.option("--html", type=anywhere, metavar="FILE", help="Draw the expected quality as a page.")
@solver_options()
@shapes_option()
@table_options()
@limit_option()
@json_option()
def command(
    data: "Location | None",
    epsilon: float | None,
    delta: float | None,
    neighbors: "Neighbors",
    n_features: int | None,
    n_nonzero: int | None,
    solver: str,
    shapes: "Shapes",
    settings: tuple[str, ...],
    calibration: str,
    as_json: bool,
    schema: str | None,
    records: float | None,
    ceiling: tuple[float, float] | None,
    rate: float | None,
    spread: float | None,
    holdout: float | None,
    public: "Location | None",
    ledger: Path | None,
    html: Path | None,
    file_format: str | None,
    delimiter: str | None,
    encoding: str,
    sheet: str | None,
    **said: Unpack["Said"],
) -> None:
    """Show what a fit will release, how noisy, at which cost, and which quality to expect.

    Needs no data: the plan depends on public settings only, and nothing is charged. With a schema
    whose [bounds] speak for columns that it does not name, DATA tell their names; no record is
    read. Quality takes --records, and a guess of what is possible without privacy (--ceiling);
    --public fits the model to a public sample instead.
    """
    from sparsedp.cli.declared.releases import Releases
    from sparsedp.cli.declared.solver import build_solver
    from sparsedp.cli.declared.source import Source
    from sparsedp.fit.plan import interactions_in_force, shapes_in_force

    if epsilon is None:
        raise click.UsageError("Missing option '--epsilon'.")
    delta = DELTA if delta is None else delta
    how = (file_format, delimiter, encoding, sheet)
    sound = build_solver(solver, settings, "sound")
    facts = _facts(schema, said, None if data is None else Source(data, *how), n_features, sound)
    bending = shapes_in_force(shapes, sound, intercept=facts.intercept)
    facts = replace(
        facts,
        n_nonzero=n_nonzero or facts.n_nonzero,
        neighbors=neighbors,
        shapes=bending,
        interactions=interactions_in_force(bending, {}),
    )
    content, lines = Releases(solver, settings, calibration, epsilon, delta).planned(facts)
    others = others_than_default(solver, settings, n_nonzero, shapes, calibration)
    quality = _Quality(
        {"records": records, "ceiling": ceiling, "rate": rate, "spread": spread},
        Settings(epsilon, delta, neighbors, holdout, others),
        None if public is None else Source(public, *how),
        ledger,
    )
    wanted = records is not None or public is not None or html is not None
    expected, why = quality.expected(facts, schema, said) if wanted else (None, None)
    if html is not None:
        _draw(expected, why, html)
    _tell({**content, "not_predicted": why}, lines, expected, html, as_json=as_json)


def _draw(expected: "QualityPlan | None", why: str | None, html: Path) -> None:
    """Write the page."""
    from sparsedp.planning.picture import page

    if expected is None:
        raise ValueError(f"there is nothing to draw: {why}")
    html.write_text(page(expected), encoding="utf-8")


def _tell(
    content: dict[str, object],
    lines: list[str],
    expected: "QualityPlan | None",
    html: Path | None,
    *,
    as_json: bool,
) -> None:
    """Print all of it."""
    from sparsedp.cli.show import echo_json

    if as_json:
        echo_json({**content, "quality": None if expected is None else expected.to_dict()})
        return
    for line in lines:
        click.echo(line)
    if expected is not None:
        click.echo(str(expected))
    elif content["not_predicted"] is not None:
        click.echo(f"Quality   no prediction: {content['not_predicted']}")
    if html is not None:
        click.echo(f"\nWrote {html}")


@dataclass(frozen=True)
class _Quality:
    """What a prediction takes."""

    guessed: Guessed
    settings: Settings
    public: "Source | None"
    ledger: Path | None

    def expected(
        self, facts: "PublicFacts", schema: str | None, said: "Said"
    ) -> "tuple[QualityPlan | None, str | None]":
        """The plan, or why there is none."""
        from sparsedp.cli.declared.declared import Declared
        from sparsedp.cli.declared.planned import public_sample, quality_plan
        from sparsedp.planning import NotMeasured

        declared = None if schema is None else Declared.read(schema, said)
        if self.public is not None and declared is None:
            raise click.UsageError("Missing option '--schema': --public is read by it.")
        try:
            sample = None
            if self.public is not None and declared is not None:
                sample = public_sample(self.public, declared)
            return quality_plan(
                self.guessed,
                self.settings,
                task=(said["task"] if declared is None else declared.task) or "classification",
                n_classes=max(facts.n_outputs, 2),
                n_features=facts.n_features,
                row_norm=facts.row_norm,
                ledger=self.ledger,
                public=sample,
            ), None
        except NotMeasured as error:
            return None, str(error)


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

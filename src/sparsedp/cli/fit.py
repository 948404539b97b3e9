"""``sparsedp fit``: from a file of records to a folder that may be published."""

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from sparsedp.cli import Stopped
from sparsedp.cli.declared.given import Given
from sparsedp.cli.folder.runfile import check_named, run_text, use_config
from sparsedp.cli.options import (
    anywhere,
    existing,
    format_option,
    json_option,
    limit_option,
    privacy_options,
    solver_options,
)

if TYPE_CHECKING:
    from sparsedp.cli.declared.declaration import Declaration
    from sparsedp.cli.folder.output import Output
    from sparsedp.data.blocks.blocks import RecordBlocks
    from sparsedp.data.bounds import Bounds
    from sparsedp.data.files.readers import Table
    from sparsedp.estimators import (
        SparseLinearRegression,
        SparseLogisticRegression,
        SparsePoissonRegressor,
    )
    from sparsedp.privacy import Ledger
    from sparsedp.release import PublishedModel


@click.command("fit")
@click.argument("data", type=existing, required=False)
@click.option("--target", metavar="COLUMN", help="The column to predict.")
@click.option(
    "--bounds",
    metavar="BOUNDS",
    help='Public limits of the features: a bounds file (see init), "0,1", or "1.0" for |x| <= 1.',
)
@privacy_options(required=False)
@click.option(
    "--task",
    type=click.Choice(("classification", "regression", "count")),
    help="By default what was declared: classes, or limits of a number. Counts have limits 0,MAX.",
)
@click.option(
    "--loss",
    type=click.Choice(("squared", "huber")),
    default="squared",
    show_default=True,
    help="Of a regression; huber for targets with heavy tails.",
)
@click.option("--classes", metavar="A,B,...", help="The label set; this or limits are needed.")
@click.option("--target-bounds", metavar="LOW,HIGH", help="Limits of a target that is a number.")
@solver_options()
@click.option("--intercept/--no-intercept", default=True, help="Fit a constant term.")
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave a column out; may repeat.")
@click.option("--n-features", type=click.IntRange(min=1), help="Of a LIBSVM file.")
@click.option(
    "--in-blocks",
    is_flag=True,
    help="Read Parquet (a file, or a folder of files) by row groups: need not fit in memory.",
)
@format_option()
@limit_option()
@click.option(
    "--invalid",
    type=click.Choice(("raise", "replace")),
    default="raise",
    show_default=True,
    help="Malformed records: stop, or replace them by public values.",
)
@click.option("--ledger", type=anywhere, help="The budget that this fit is charged to.")
@click.option("--ledger-epsilon", type=float, help="Budget of a new ledger.")
@click.option("--ledger-delta", type=float, help="Budget of a new ledger.")
@click.option("--who", metavar="NAME", help="Who releases this, for the ledger's line.")
@click.option("--seed", type=int, help="Repeatable noise, for experiments: NOT private.")
@click.option(
    "--config",
    type=existing,
    is_eager=True,
    expose_value=False,
    callback=use_config,
    help="Settings of an earlier fit (its run.toml).",
)
@click.option(
    "-o", "--output", type=anywhere, default=Path("model"), show_default=True, help="Folder."
)
@click.option("--force", is_flag=True, help="Replace a model in that folder.")
@click.option("--resume", is_flag=True, help="Finish an interrupted fit at no charge; needs -o.")
@json_option()
@click.pass_context
def command(
    ctx: click.Context,
    output: Path,
    force: bool,
    resume: bool,
    as_json: bool,
    **given: Unpack[Given],
) -> None:
    """Fit a private model to DATA and write a folder.

    The folder holds model.json (coefficients and privacy record), report.html (for whoever must
    approve it) and run.toml (all settings, for --config). Nothing else about the records leaves:
    neither their number nor how well the model fits them.
    """
    from sparsedp.cli.folder import keep
    from sparsedp.cli.folder.output import Output
    from sparsedp.cli.folder.stopping import NOTHING, accounted

    folder = Output(output)
    if resume:
        with accounted(folder, None):
            model = keep.resume(folder, force=force)
    else:
        _check_given(given)
        check_named(ctx, given["ledger"])
        folder.check(force=force)
        try:
            model = _fit(folder, given, force=force, shown=sys.stderr.isatty() and not as_json)
        except KeyboardInterrupt:  # later ones are accounted for
            raise Stopped(f"Stopped. {NOTHING}") from None
    _show(model, output, as_json=as_json)


def _check_given(given: Given) -> None:
    """What only --resume can do without."""
    if given["data"] is None:
        raise click.UsageError("Missing argument 'DATA'.")
    for name in ("bounds", "epsilon", "delta"):
        if given[name] is None:
            raise click.UsageError(f"Missing option '--{name}'.")


def _fit(folder: "Output", given: Given, *, force: bool, shown: bool) -> "PublishedModel":
    """Read, prepare the folder, charge and fit, store, put in place: in this order."""
    from sparsedp.cli.declared.declaration import Declaration
    from sparsedp.cli.declared.records import blocks_for_fit, read_for_fit
    from sparsedp.cli.declared.solver import build_solver
    from sparsedp.cli.folder.keep import keep, place
    from sparsedp.cli.folder.output import model_size
    from sparsedp.cli.folder.stopping import accounted, uninterrupted
    from sparsedp.release import PublishedModel

    declared = Declaration.read(given["bounds"]).overridden(
        target=given["target"],
        classes=given["classes"],
        target_bounds=given["target_bounds"],
        drop=given["drop"],
    )
    task = declared.task(given["task"])
    solver = build_solver(given["solver"], given["settings"], given["calibration"])
    ledger = _open_ledger(given)
    records = None
    if given["in_blocks"]:
        table, limits, records = blocks_for_fit(given["data"], declared)
    else:
        table, limits = read_for_fit(
            given["data"], declared, given["file_format"], given["n_features"], given["invalid"]
        )
    estimator = _estimator(task, declared, given, limits)
    estimator.set_params(solver=solver, ledger=ledger, verbose=shown)
    size = model_size(table.feature_names, table.X.shape[1], len(declared.classes or ()))
    where = None if ledger is None else ledger.path
    folder.prepare(run_text(given, task, declared), size, ledger=where, force=force)
    with accounted(folder, ledger):
        _fit_loudly(estimator, table, records)
        with uninterrupted():
            model = PublishedModel.from_estimator(
                estimator,
                feature_names=table.feature_names,
                target_name=table.target_name,
                categories=declared.categories,
            )
            keep(folder, model, ledger)
        place(folder, model, force=force)
    return model


def _show(model: "PublishedModel", output: Path, *, as_json: bool) -> None:
    """What may be said about a fit."""
    from sparsedp.cli.show import coefficient_lines, echo_json, echo_verdict, verdict_json

    if as_json:
        echo_json(
            {
                "folder": str(output),
                **verdict_json(model.verdict()),
                "intercept": model.intercept,
                "features": {feature.label: feature.coef for feature in model.features},
            }
        )
        return
    echo_verdict(model.verdict())
    click.echo(f"\nThe model uses {len(model.features)} of {model.n_features} features:")
    for line in coefficient_lines(model):
        click.echo(line)
    click.echo(f"\nWrote {output / 'model.json'}, {output / 'report.html'}, {output / 'run.toml'}")


def _open_ledger(given: Given) -> "Ledger | None":
    from sparsedp.privacy import Ledger

    path, epsilon, delta = given["ledger"], given["ledger_epsilon"], given["ledger_delta"]
    if path is None:
        if epsilon is not None or delta is not None:
            raise ValueError("--ledger-epsilon and --ledger-delta need --ledger FILE")
        return None
    if not path.exists():
        if epsilon is None or delta is None:
            raise ValueError(
                f"there is no ledger at {path}: to make one, give its whole budget by "
                "--ledger-epsilon and --ledger-delta"
            )
        path.parent.mkdir(parents=True, exist_ok=True)
    data = given["data"].name
    return Ledger(epsilon, delta, path, who=given["who"], data=data, finish_later=True)


def _estimator(
    task: str, declared: "Declaration", given: Given, bounds: "Bounds"
) -> "SparseLinearRegression | SparseLogisticRegression | SparsePoissonRegressor":
    from sparsedp.estimators import (
        SparseLinearRegression,
        SparseLogisticRegression,
        SparsePoissonRegressor,
    )

    if task != "regression" and given.get("loss", "squared") != "squared":
        raise ValueError(f"--loss {given['loss']} is for a regression, and this is a {task}")
    if task == "count":
        estimator = SparsePoissonRegressor(max_count=declared.largest_count())
    elif task == "regression":
        loss = given.get("loss", "squared")
        estimator = SparseLinearRegression(target_bounds=declared.target_bounds, loss=loss)
    else:
        estimator = SparseLogisticRegression(classes=declared.classes)
    return estimator.set_params(
        epsilon=given["epsilon"],
        delta=given["delta"],
        bounds=bounds,
        n_nonzero=given["n_nonzero"],
        neighbors=given["neighbors"],
        fit_intercept=given["intercept"],
        invalid=given["invalid"],
        random_state=given["seed"],
    )


def _fit_loudly(
    estimator: "SparseLinearRegression | SparseLogisticRegression | SparsePoissonRegressor",
    table: "Table",
    records: "RecordBlocks | None",
) -> None:
    """Fit; warnings become one line each on stderr."""
    from sparsedp.privacy import UnprovenGuarantee

    if table.y is None and records is None:
        raise ValueError("the data have no target: give --target")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default", UnprovenGuarantee)
        estimator.fit(table.X if records is None else records, table.y)
    for warning in caught:
        click.secho(f"Warning: {warning.message}", fg="red", err=True)

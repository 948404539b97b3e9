"""``sparsedp fit``: from a file of records to a folder that may be published."""

import sys
import tomllib
import warnings
from pathlib import Path
from typing import Any

import click

from sparsedp import __version__
from sparsedp.cli.options import (
    anywhere,
    existing,
    format_option,
    json_option,
    privacy_options,
    solver_options,
)


def _use_config(ctx: click.Context, option: click.Parameter, path: Path | None) -> None:
    """Take what is not given on the command line from a run.toml, which also holds the bounds."""
    if path is None:
        return
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8")).get("fit")
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is not a TOML file: {error}") from None
    if not isinstance(given, dict):
        raise ValueError(f"{path} has no [fit] table: give the run.toml of an earlier fit")
    names = {parameter.name for parameter in ctx.command.params} - {"config", "output", "force"}
    unknown = sorted(set(given) - names)
    if unknown:
        raise ValueError(f"{path}: [fit] does not know {', '.join(unknown)}")
    ctx.default_map = {**given, "bounds": str(path)}


@click.command("fit")
@click.argument("data", type=existing)
@click.option("--target", metavar="COLUMN", help="The column to predict.")
@click.option(
    "--bounds",
    required=True,
    metavar="BOUNDS",
    help='Public limits of the features: a bounds file (see init), "0,1", or "1.0" for |x| <= 1.',
)
@privacy_options()
@click.option(
    "--task",
    type=click.Choice(("classification", "regression")),
    help="By default regression if limits of the target are declared, else classification.",
)
@click.option("--classes", metavar="A,B,...", help="The label set, if the bounds file has none.")
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
@click.option("--seed", type=int, help="Repeatable noise, for experiments: NOT private.")
@click.option(
    "--config",
    type=existing,
    is_eager=True,
    expose_value=False,
    callback=_use_config,
    help="Settings of an earlier fit (its run.toml).",
)
@click.option(
    "-o", "--output", type=anywhere, default=Path("model"), show_default=True, help="Folder."
)
@click.option("--force", is_flag=True, help="Overwrite a model in that folder.")
@json_option()
def command(
    data: Path,
    target: str | None,
    bounds: str,
    epsilon: float,
    delta: float,
    neighbors: str,
    task: str | None,
    classes: str | None,
    target_bounds: str | None,
    n_nonzero: int | None,
    solver: str,
    settings: tuple[str, ...],
    calibration: str,
    intercept: bool,
    drop: tuple[str, ...],
    n_features: int | None,
    in_blocks: bool,
    file_format: str | None,
    invalid: str,
    ledger: Path | None,
    ledger_epsilon: float | None,
    ledger_delta: float | None,
    seed: int | None,
    output: Path,
    force: bool,
    as_json: bool,
) -> None:
    """Fit a private model to DATA and write a folder.

    The folder holds model.json (coefficients and privacy record), report.html (for whoever must
    approve it) and run.toml (all settings, for --config). Nothing else about the records leaves:
    neither their number nor how well the model fits them.
    """
    from sparsedp.cli.declaration import Declaration, toml_table
    from sparsedp.cli.records import blocks_for_fit, read_for_fit
    from sparsedp.cli.show import coefficient_lines, echo_json, echo_verdict, verdict_json
    from sparsedp.cli.solver import build_solver
    from sparsedp.release import PublishedModel, write_report

    if (output / "model.json").exists() and not force:
        raise ValueError(f"{output} already holds a model: choose another folder by -o, or --force")
    declared = Declaration.read(bounds).overridden(
        target=target, classes=classes, target_bounds=target_bounds, drop=drop
    )
    task = task or ("classification" if declared.target_bounds is None else "regression")
    built = build_solver(solver, settings, calibration)
    budget = _open_ledger(ledger, ledger_epsilon, ledger_delta)
    records = None
    if in_blocks:
        table, limits, records = blocks_for_fit(data, declared)
    else:
        table, limits = read_for_fit(data, declared, file_format, n_features)
    shared: dict[str, Any] = {
        "epsilon": epsilon,
        "delta": delta,
        "bounds": limits,
        "n_nonzero": n_nonzero,
        "solver": built,
        "neighbors": neighbors,
        "fit_intercept": intercept,
        "invalid": invalid,
        "ledger": budget,
        "random_state": seed,
        "verbose": sys.stderr.isatty() and not as_json,
    }
    new = not output.exists()
    output.mkdir(parents=True, exist_ok=True)  # before the budget is spent
    try:
        estimator = _fitted(task, declared, shared, table, records)
    except BaseException:
        if new:
            output.rmdir()
        raise
    model = PublishedModel.from_estimator(
        estimator,
        feature_names=table.feature_names,
        target_name=table.target_name,
        categories=declared.categories,
    )
    model.save(output)
    write_report(model, output / "report.html")
    run = {
        "data": str(data),
        "file_format": file_format,
        "n_features": n_features,
        "in_blocks": in_blocks,
        "task": task,
        "epsilon": epsilon,
        "delta": delta,
        "neighbors": neighbors,
        "n_nonzero": n_nonzero,
        "solver": solver,
        "settings": settings,
        "calibration": calibration,
        "intercept": intercept,
        "invalid": invalid,
        "ledger": None if ledger is None else str(ledger),
        "seed": seed,
    }
    (output / "run.toml").write_text(
        f"# Settings of a fit by sparsedp {__version__}. To repeat it, with fresh noise and at the "
        "same cost:\n#   sparsedp fit --config run.toml -o another-folder\n\n"
        f"{toml_table('fit', run)}\n{declared.to_toml()}",
        encoding="utf-8",
    )
    if as_json:
        echo_json(
            {
                "folder": str(output),
                **verdict_json(model),
                "intercept": model.intercept,
                "features": {feature.label: feature.coef for feature in model.features},
            }
        )
        return
    echo_verdict(model)
    click.echo(f"\nThe model uses {len(model.features)} of {model.n_features} features:")
    for line in coefficient_lines(model):
        click.echo(line)
    click.echo(f"\nWrote {output / 'model.json'}, {output / 'report.html'}, {output / 'run.toml'}")


def _open_ledger(path: Path | None, epsilon: float | None, delta: float | None) -> Any:
    from sparsedp.privacy import Ledger

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
    return Ledger(epsilon, delta, path)


def _fitted(
    task: str, declared: Any, shared: dict[str, Any], table: Any, records: Any = None
) -> Any:
    """Fit; warnings become one line each on stderr."""
    from sparsedp.data.gate import as_float64
    from sparsedp.estimators import SparseLinearRegression, SparseLogisticRegression
    from sparsedp.privacy import UnprovenGuarantee

    y = table.y
    if y is None and records is None:
        raise ValueError("the data have no target: give --target")
    if task == "regression":
        if y is not None:
            y = as_float64(y, "the target", shared["invalid"])
        estimator: Any = SparseLinearRegression(target_bounds=declared.target_bounds, **shared)
    else:
        mixed = y is not None and y.dtype == object and len({type(label) for label in y}) > 1
        if declared.classes is None and mixed:
            raise ValueError("the target mixes numbers and text: declare its labels by --classes")
        estimator = SparseLogisticRegression(classes=declared.classes, **shared)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default", UnprovenGuarantee)
        estimator.fit(table.X if records is None else records, y)
    for warning in caught:
        click.secho(f"Warning: {warning.message}", fg="red", err=True)
    return estimator

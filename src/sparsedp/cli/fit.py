"""``sparsedp fit``: from a file of records to a folder that may be published."""

import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from sparsedp.cli import Stopped
from sparsedp.cli.declared.given import Given, said
from sparsedp.cli.declared.planned import expected_of_fit, planning_options
from sparsedp.cli.folder.runfile import check_named, run_text, use_config
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
    from sparsedp.cli.declared.declared import Declared
    from sparsedp.cli.folder.output import Output
    from sparsedp.estimators import (
        SparseLinearRegression,
        SparseLogisticRegression,
        SparsePoissonRegressor,
    )
    from sparsedp.estimators.border import Features, Targets
    from sparsedp.fit.parts import Holdout
    from sparsedp.privacy import Ledger
    from sparsedp.release import PublishedModel


@click.command("fit")
@click.argument("data", type=source, required=False)
@schema_options()
@privacy_options(required=False)
@click.option(
    "--loss",
    type=click.Choice(("squared", "huber")),
    default="squared",
    show_default=True,
    help="Of a regression; huber for targets with heavy tails.",
)
@solver_options()
@shapes_option()
@click.option(
    "--monotone",
    multiple=True,
    metavar="NAME=DIRECTION",
    help="An effect that shall only rise (increasing) or fall (decreasing); may be repeated.",
)
@click.option(
    "--intervals",
    is_flag=True,
    help="Intervals of the coefficients, for part of the budget; effects are then lines.",
)
@click.option("--intercept/--no-intercept", default=True, help="Fit a constant term.")
@click.option("--n-features", type=click.IntRange(min=1), help="Of a LIBSVM file.")
@click.option(
    "--in-blocks",
    is_flag=True,
    help="Read Parquet, CSV or JSON lines block by block: records need not fit in memory.",
)
@table_options()
@limit_option()
@click.option(
    "--invalid",
    type=click.Choice(("raise", "replace")),
    default="raise",
    show_default=True,
    help="Malformed records: stop, or replace them by public values.",
)
@click.option("--check", is_flag=True, help="Only see how the records fit the schema; no charge.")
@click.option("--quiet", is_flag=True, help="Do not show how the records fit the schema.")
@click.option(
    "--allow-unmatched",
    is_flag=True,
    help="Fit although a declared value never occurs while undeclared ones do.",
)
@planning_options()
@click.option("--yes", is_flag=True, help="Fit although nothing better than guessing is expected.")
@click.option(
    "--holdout",
    type=float,
    metavar="SHARE",
    help="Hold so many of the persons out, by secret coins, for private scores at no further cost.",
)
@click.option(
    "--holdout-key",
    type=anywhere,
    help="A secret file, made if it is not there: the same persons are held out of every fit.",
)
@click.option(
    "--evaluation-ledger",
    type=anywhere,
    help="With --holdout-key: the budget of those who are held out, which scores are charged to.",
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
@click.option("--progress", is_flag=True, help="Count releases on standard error, also in a pipe.")
@click.option("--resume", is_flag=True, help="Finish an interrupted fit at no charge; needs -o.")
@json_option()
@click.pass_context
def command(
    ctx: click.Context,
    output: Path,
    force: bool,
    resume: bool,
    check: bool,
    progress: bool,
    as_json: bool,
    **given: Unpack[Given],
) -> None:
    """Fit a private model to DATA and write a folder.

    The folder holds model.json (coefficients and privacy record), report.html (for whoever must
    approve it) and run.toml (all settings, for --config). Nothing else about the records leaves:
    neither their number nor, without --holdout, how well the model fits them.

    Before anything is charged, whoever holds the records may see on standard error how many cells
    of a column are not as declared. That is private, and stored nowhere.
    """
    from sparsedp.cli.folder import keep
    from sparsedp.cli.folder.output import Output
    from sparsedp.cli.folder.stopping import NOTHING, accounted

    folder = Output(output)
    if resume:
        with accounted(folder, None):
            model = keep.resume(folder, force=force)
    elif check:
        _check_given(given, ("schema",))
        _only_look(given)
        return
    else:
        _check_given(given, ("schema", "epsilon", "delta"))
        check_named(ctx, given["ledger"])
        folder.check(force=force)
        try:
            shown = progress or (sys.stderr.isatty() and not as_json)
            model = _fit(folder, given, force=force, shown=shown)
        except KeyboardInterrupt:  # later ones are accounted for
            raise Stopped(f"Stopped. {NOTHING}") from None
    _show(model, output, as_json=as_json)


def _check_given(given: Given, needed: Sequence[str]) -> None:
    """What only --resume can do without."""
    if given["data"] is None:
        raise click.UsageError("Missing argument 'DATA'.")
    for name in needed:
        if dict(given)[name] is None:
            also = " (or '--bounds')" if name == "schema" else ""
            raise click.UsageError(f"Missing option '--{name}'{also}.")


def _only_look(given: Given) -> None:
    """Show the holder how the records fit the schema; nothing is charged or written."""
    from sparsedp.cli.declared.declared import Declared
    from sparsedp.cli.declared.holder import look, refuse_misspelled, tell
    from sparsedp.cli.declared.records import open_for_fit
    from sparsedp.cli.declared.source import Source

    records = Source.given(given)
    if records.matrix is not None:
        raise ValueError(f"{records}: a matrix of numbers has no schema to compare with")
    opened, schema = open_for_fit(records, Declared.read(given["schema"], said(given)))
    found = look(schema, opened.blocks())
    tell(found)
    if not given["allow_unmatched"]:
        refuse_misspelled(found)
    click.echo("All else fits the schema. Nothing was charged.", err=True)


def _fit(folder: "Output", given: Given, *, force: bool, shown: bool) -> "PublishedModel":
    """Read, prepare the folder, charge and fit, store, put in place: in this order."""
    from sparsedp.cli.declared.declared import Declared
    from sparsedp.cli.declared.records import records_for_fit
    from sparsedp.cli.declared.solver import build_solver
    from sparsedp.cli.folder.keep import keep, place
    from sparsedp.cli.folder.output import model_size
    from sparsedp.cli.folder.stopping import accounted, uninterrupted
    from sparsedp.fit.parts import Holdout
    from sparsedp.release import PublishedModel

    declared = Declared.read(given["schema"], said(given))
    solver = build_solver(given["solver"], given["settings"], given["calibration"])
    estimator = _estimator(declared, given)
    ledger = _open_ledger(given, declared)
    records = records_for_fit(given, declared)
    planned = expected_of_fit(given, declared, records.n_features, records.row_norm)
    estimator.set_params(solver=solver, ledger=ledger, verbose=shown, **records.promised)
    text = run_text(given, declared, records.schema)
    size = model_size(records.names, records.n_features, declared.n_outputs) + 4 * len(text)
    where = None if ledger is None else ledger.path
    folder.prepare(text, size, ledger=where, force=force)
    held = Holdout.of(estimator.holdout)
    with accounted(folder, ledger, None if held is None else held.ledger):
        _fit_loudly(estimator, records.X, records.y)
        with uninterrupted():
            model = PublishedModel.from_estimator(
                estimator,
                feature_names=records.names,
                target_name=records.target_name,
                planned=planned,
            )
            keep(folder, model, ledger)
        place(folder, model, ledger, force=force)
    return model


def _show(model: "PublishedModel", output: Path, *, as_json: bool) -> None:
    """What may be said about a fit."""
    from sparsedp.cli.show import (
        coefficient_lines,
        echo_json,
        echo_verdict,
        pair_lines,
        score_lines,
        verdict_json,
    )
    from sparsedp.release.effects import joint_effects_of
    from sparsedp.release.intervals.stored import stored

    if as_json:
        echo_json(
            {
                "folder": str(output),
                **verdict_json(model.verdict()),
                "intercept": model.intercept,
                "features": {feature.label: feature.coef for feature in model.features},
                "shapes": {
                    feature.label: {
                        "knots": feature.knots,
                        "values": feature.shape.values.T.tolist(),
                    }
                    for feature in model.features
                    if feature.knots
                },
                "interactions": [
                    {"features": each.names, "weights": each.pair.weights}
                    for each in joint_effects_of(model)
                ],
                **({} if model.scores is None else {"evaluation": model.scores.to_dict()}),
                **({} if model.intervals is None else {"intervals": stored(model.intervals)}),
            }
        )
        return
    echo_verdict(model.verdict())
    click.echo(f"\nThe model uses {len(model.features)} of {model.n_features} features:")
    for line in coefficient_lines(model):
        click.echo(line)
    if model.interactions:
        click.echo("\nPairs that add this where both are high or both low, else take it away:")
        for line in pair_lines(model):
            click.echo(line)
    if model.intervals is not None:
        click.echo(f"\n{model.summary()}")
    if model.scores is not None:
        units = f"{model.privacy.get('unit', 'row')}s"
        click.echo(f"\nPrivate scores, on {units} that were held out:")
        for line in score_lines(model.scores):
            click.echo(line)
    click.echo(f"\nWrote {output / 'model.json'}, {output / 'report.html'}, {output / 'run.toml'}")


def _open_ledger(given: Given, declared: "Declared") -> "Ledger | None":
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
        if declared.schema.person is not None:  # a new ledger protects whom its first fit protects
            Ledger(epsilon, delta, path, unit="person")
    data = given["data"].name
    return Ledger(epsilon, delta, path, who=given["who"], data=data, finish_later=True)


def _estimator(
    declared: "Declared", given: Given
) -> "SparseLinearRegression | SparseLogisticRegression | SparsePoissonRegressor":
    from sparsedp.estimators import (
        SparseLinearRegression,
        SparseLogisticRegression,
        SparsePoissonRegressor,
    )

    target, task, loss = declared.schema.target, declared.task, given.get("loss", "squared")
    assert target is not None
    if task != "regression" and loss != "squared":
        raise ValueError(f"--loss {loss} is for a regression, and this is a {task}")
    if task == "count" and given["intervals"]:
        raise ValueError("--intervals is for two classes and for regressions, not for counts")
    if task == "count":
        estimator = SparsePoissonRegressor(max_count=target.max_count)
    elif task == "regression":
        estimator = SparseLinearRegression(
            target_bounds=target.bounds, loss=loss, intervals=given["intervals"]
        )
    else:
        estimator = SparseLogisticRegression(classes=target.classes, intervals=given["intervals"])
    return estimator.set_params(
        epsilon=given["epsilon"],
        delta=given["delta"],
        n_nonzero=given["n_nonzero"],
        shapes=given["shapes"],
        monotone=_monotone(given["monotone"]),
        neighbors=given["neighbors"],
        fit_intercept=given["intercept"],
        invalid=given["invalid"],
        holdout=_holdout(given),
        random_state=given["seed"],
    )


def _holdout(given: Given) -> "Holdout | None":
    """Who is held out, and whose budget pays for the scores."""
    from sparsedp.cli.private_scores import opened
    from sparsedp.fit.parts import Holdout

    share, key, ledger = given["holdout"], given["holdout_key"], given["evaluation_ledger"]
    if share is None:
        if key is not None or ledger is not None:
            raise ValueError("--holdout-key and --evaluation-ledger need --holdout SHARE")
        return None
    return Holdout(share=share, key=key, ledger=opened(ledger))


def _monotone(given: Sequence[str]) -> dict[str, str] | None:
    """Features and their directions."""
    found: dict[str, str] = {}
    for text in given:
        name, equals, direction = text.rpartition("=")  # names of indicators have an = themselves
        if not equals:
            raise ValueError(f"--monotone {text!r:.60}: write NAME=increasing or NAME=decreasing")
        found[name] = direction
    return found or None


def _fit_loudly(
    estimator: "SparseLinearRegression | SparseLogisticRegression | SparsePoissonRegressor",
    X: "Features",
    y: "Targets",
) -> None:
    """Fit; warnings become one line each on stderr."""
    from sparsedp.privacy import UnprovenGuarantee

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default", UnprovenGuarantee)
        estimator.fit(X, y)
    for warning in caught:
        click.secho(f"Warning: {warning.message}", fg="red", err=True)

"""``sparsedp reproduce``: the tables and figures of the papers, with one command."""

import importlib
import importlib.util
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Protocol

import click

from sparsedp.cli.options import anywhere, existing


class Experiment(Protocol):
    """A table or figure of a paper, as the list shows it."""

    key: str
    title: str


@click.command("reproduce")
@click.argument("experiments", nargs=-1, metavar="[EXPERIMENT]...")
@click.option("--list", "show_list", is_flag=True, help="Name all experiments.")
@click.option("--quick", is_flag=True, help="Reduced: everything in ten minutes on two cores.")
@click.option(
    "--data",
    type=existing,
    envvar="SPARSEDP_DATA",
    help="Folder of the data sets (or the setting SPARSEDP_DATA); else they are downloaded.",
)
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes.")
@click.option(
    "-o",
    "--output",
    type=anywhere,
    help="Folder of the results [default: reproduction, with --quick reproduction-quick].",
)
def command(
    experiments: tuple[str, ...],
    show_list: bool,
    quick: bool,
    data: Path | None,
    jobs: int,
    output: Path | None,
) -> None:
    """Rerun experiments of the papers.

    EXPERIMENT is a table or figure such as private-lasso/table1, a paper such as ight, or all.
    A run that was stopped goes on where it was. Needs the extra `reproduce` (matplotlib, pooch).
    """
    registry = _framework("registry")
    if show_list or not experiments:
        _echo_list(registry.all_experiments())
        return
    chosen = registry.chosen(experiments)
    if importlib.util.find_spec("matplotlib") is None:
        raise ValueError("figures need matplotlib: pip install 'sparsedp[reproduce]'")
    runner, sets = _framework("runner"), _framework("data")
    size = "quick" if quick else "full"
    folder = output or Path("reproduction-quick" if quick else "reproduction")
    run = runner.Run(output=folder, data=sets.Data(folder=data), size=size, jobs=jobs)
    failed = []
    for experiment in chosen:
        start = time.monotonic()
        try:
            path = runner.reproduce(experiment, run)
        except KeyboardInterrupt:
            click.echo(
                f"\nStopped. What is done is in {run.folder(experiment)}; the same command goes on "
                "from there.",
                err=True,
            )
            sys.exit(130)
        except Exception as error:  # one experiment must not cost the others
            if len(chosen) == 1:
                raise
            failed.append(experiment.key)
            click.echo(f"{experiment.key} failed: {type(error).__name__}: {error}", err=True)
            continue
        took = time.monotonic() - start
        click.echo(f"{experiment.key}: {path / 'summary.md'} ({took:.0f} s)")
        for line in runner.left_out(path):
            click.echo(f"  {line}")
    if failed:
        raise ValueError(f"{len(failed)} of {len(chosen)} failed: {', '.join(failed)}")


def _framework(name: str) -> ModuleType:
    """A module of the experiments, which import this package: loaded when they are asked for."""
    return importlib.import_module(f"sparsedp_experiments.framework.{name}")


def _echo_list(experiments: Sequence[Experiment]) -> None:
    width = max((len(experiment.key) for experiment in experiments), default=0)
    for experiment in experiments:
        click.echo(f"{experiment.key:{width}}  {experiment.title}")

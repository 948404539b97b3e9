"""``sparsedp reproduce``: the tables and figures of the papers, with one command."""

import importlib
import importlib.util
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

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
    "--check", is_flag=True, help="Run a random part of stored results again; compare every bit."
)
@click.option(
    "--share",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.1,
    show_default=True,
    help="Part of the rows that --check runs.",
)
@click.option(
    "--other-code", is_flag=True, help="Let --check say ok for results of another version's code."
)
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
    help="Folder of the results [default: reproduction, with --quick reproduction-quick; with "
    "--check those in docs/reproduction of a clone].",
)
def command(
    experiments: tuple[str, ...],
    show_list: bool,
    quick: bool,
    check: bool,
    share: float,
    other_code: bool,
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
    size = "quick" if quick else "full"
    sets = _framework("data").Data(folder=data)
    if check:
        with _framework("check").stored_results(output) as folder:
            run = _framework("runner").Run(output=folder, data=sets, size=size, jobs=jobs)
            sys.exit(_check(chosen, run, share, other_code))
    folder = output or Path("reproduction-quick" if quick else "reproduction")
    _run(chosen, _framework("runner").Run(output=folder, data=sets, size=size, jobs=jobs))


def _run(chosen: Sequence[Any], run: Any) -> None:
    runner = _framework("runner")
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


def _check(chosen: Sequence[Any], run: Any, share: float, other_code: bool) -> int:
    """Say what is equal and what is not; the exit code."""
    import numpy as np

    check, origin = _framework("check"), _framework("origin")
    rng, start = np.random.default_rng(), time.monotonic()
    n_again, n_different, codes, missing = 0, 0, set(), set()
    for experiment in chosen:
        before = time.monotonic()
        found = check.check(experiment, run, share, rng)
        if not found.n_rows:
            continue  # it shows the rows of others
        n_again, n_different = n_again + found.n_again, n_different + len(found.different)
        codes, missing = codes | found.codes, missing | set(found.missing)
        word = f"{len(found.different)} different" if found.different else "equal"
        if found.n_lacking:
            word += f"; {found.n_lacking} trials are not in the results"
        took = time.monotonic() - before
        click.echo(
            f"{experiment.key}: {found.n_again} of {found.n_rows} rows, {word} ({took:.0f} s)"
        )
        for line in found.different:
            click.echo(f"  {line}")
    if missing:
        click.echo(f"Not compared, as the data are not there: {', '.join(sorted(missing))}.")
    known, here = origin.known(run.output), origin.code_version()
    commits = sorted({known.get(code, {}).get("commit", "an unknown commit") for code in codes})
    made = f"Results of {', '.join(commits)}, run again by {origin.commit()}"
    took = f"{time.monotonic() - start:.0f} s"
    if n_different:
        click.echo(f"{made}: {n_different} of {n_again} rows differ ({took}).")
        return 1
    if codes != {here} and not other_code:
        click.echo(
            f"{made}: {n_again} rows are equal bit by bit ({took}), but the code of fits is "
            "another one, so that this is no repetition; --other-code says ok all the same."
        )
        return 1
    click.echo(f"{made}: ok, {n_again} rows are equal bit by bit ({took}).")
    return 0


def _framework(name: str) -> ModuleType:
    """A module of the experiments, which import this package: loaded when they are asked for."""
    return importlib.import_module(f"sparsedp_experiments.framework.{name}")


def _echo_list(experiments: Sequence[Experiment]) -> None:
    width = max((len(experiment.key) for experiment in experiments), default=0)
    for experiment in experiments:
        click.echo(f"{experiment.key:{width}}  {experiment.title}")

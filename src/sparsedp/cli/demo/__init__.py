"""``sparsedp demo``: from a messy table to a signed model, by the commands that anybody uses."""

import shlex
import shutil
from pathlib import Path

import click

from sparsedp.cli.options import anywhere

MADE = "Made by sparsedp demo."
"""First words of README.txt: only such a folder is made anew."""


@click.command("demo")
@click.option("--seed", type=int, help="Repeatable data and noise; models are then NOT private.")
@click.option("--papers", is_flag=True, help="The synthetic set of Khanna et al. (2024) instead.")
@click.option(
    *("-o", "--output"),
    type=anywhere,
    help="Folder [default: demo, with --papers demo-papers].",
)
def command(seed: int | None, papers: bool, output: Path | None) -> None:
    """Go from a messy table to a signed private model and its report.

    The table is made up: the registry of a hospital with several stays a patient, missing cells
    and a rare outcome. Every step is a command that is shown before it runs. With --papers a
    model of 100 features, of which eight matter, by the Sparsifier with our accounting.
    """
    if papers:
        from sparsedp.cli.demo.papers import show_papers

        show_papers(output or Path("demo-papers"), seed)
    else:
        _show_registry(output or Path("demo"), seed)


def _show_registry(folder: Path, seed: int | None) -> None:
    from sparsedp.cli.demo.registry import N_PATIENTS, write_registry

    _clear(folder)
    table, schema = write_registry(folder, seed)
    (folder / "README.txt").write_text(f"{MADE} All patients are made up.\n", encoding="utf-8")
    ledger, model, effects = folder / "patients.ledger", folder / "model", folder / "effects"
    key, query = folder / "officer.pem", folder / "score.sql"
    declared = ["--schema", schema, "--epsilon", 1, "--delta", 1e-6]
    expected = ["--records", N_PATIENTS, "--ceiling", "0.75:0.85", "--rate", 0.07]
    held_out = ["--holdout", 0.2]
    budget = ["--ledger", ledger, "--ledger-epsilon", 3, "--ledger-delta", 1e-5]
    noise = [] if seed is None else ["--seed", seed]
    who = ["--who", "Quality office"]
    quiet = ["--quiet", *noise]

    _say("A hospital wants to publish who comes back within thirty days. Its registry (made up):")
    _head(table)
    _say(f"{schema} declares what the columns hold, and that whole patients are protected.")
    _say("1. What can be expected, before anything is spent? No record is read.")
    _run("plan", *declared, *expected, *held_out)
    _say("2. A model, and its score on a fifth of the patients, whom a secret coin held out.")
    _run("fit", table, *declared, *held_out, *expected, *budget, *who, *quiet, "-o", model)
    _say("3. Coefficients with intervals, for a paper: another fit, charged to the same ledger.")
    _run("fit", table, *declared, "--intervals", "--ledger", ledger, *who, *quiet, "-o", effects)
    _say("4. What was spent on these patients, of all that may ever be.")
    _run("ledger", ledger)
    _say("5. The officer signs the model and where the ledger stood; anybody can check it.")
    if seed is None:
        officer = ["--name", "Data protection officer"]
        _run("sign", model, "--new-key", key, *officer, "--ledger", ledger)
        _run("verify", model, "--ledger", ledger, "--public-key", f"{key}.pub")
        _run("report", model, "--ledger", ledger)
    else:
        click.echo("Nobody signs a model with repeatable noise: leave --seed out.")
    _say("6. The model as a query that scores patients in the warehouse.")
    _run("export", model, "--to", "sql", "--table", "patients", "-o", query)
    _say(_truth(model))
    click.echo(f"Open the report: {(model / 'report.html').absolute()}")
    click.echo(f"     and, with intervals: {(effects / 'report.html').absolute()}")


def _clear(folder: Path) -> None:
    """Take away what an earlier demo made, and nothing else."""
    if not folder.exists() or not any(folder.iterdir()):
        return
    note = folder / "README.txt"
    if not (note.is_file() and note.read_text(encoding="utf-8").startswith(MADE)):
        raise ValueError(f"{folder} has files that the demo did not make: give another by -o")
    shutil.rmtree(folder)


def _say(text: str) -> None:
    click.echo()
    click.secho(text, bold=True)


def _run(*words: object) -> None:
    """Show a command, and run it."""
    from sparsedp.cli import main

    said = [str(word) for word in words]
    click.secho(f"$ sparsedp {shlex.join(said)}", fg="cyan")
    main.main(args=said, prog_name="sparsedp", standalone_mode=False)


def _head(table: Path, n_rows: int = 5, n_first: int = 9) -> None:
    """The first rows: as many columns as fit a terminal, and the last."""
    with table.open(encoding="utf-8") as file:
        cells = [next(file).rstrip("\r\n").split(",") for _ in range(n_rows)]
    rows = [[*row[:n_first], "...", row[-1]] for row in cells]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        line = " ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo(f"  {line}".rstrip())


def _truth(folder: Path) -> str:
    """The exact AUC on new patients, which only a made-up registry may tell."""
    import tempfile

    from sklearn.metrics import roc_auc_score

    from sparsedp.cli.declared.records import blocks_for_model
    from sparsedp.cli.declared.source import Source
    from sparsedp.cli.demo.registry import write_registry
    from sparsedp.data.files.location import Location
    from sparsedp.release import PublishedModel

    model = PublishedModel.load(folder)
    with tempfile.TemporaryDirectory() as new:
        table, _ = write_registry(Path(new), None)
        with table.open(encoding="utf-8", newline="") as file:
            came_back = [line.rstrip().endswith(",yes") for line in file][1:]
        blocks = blocks_for_model(Source(Location.of(table)), model)
        shares = [p for X, names in blocks for p in model.predict_proba(X, names)[:, 1]]
    auc = roc_auc_score(came_back, shares)
    return (
        f"These patients are made up, so the truth may be told: on new ones the AUC is {auc:.3f}."
    )

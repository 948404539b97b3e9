"""``sparsedp report``: write the report of a model file anew."""

from pathlib import Path

import click

from sparsedp.cli.options import anywhere, existing, limit_option


@click.command("report")
@click.argument("model", type=existing)
@click.option("-o", "--output", type=anywhere, help="HTML file; by default beside the model.")
@click.option(
    "--evaluation", type=existing, help="Scores to include, from `sparsedp evaluate --json`."
)
@click.option(
    "--ledger", type=existing, help="That the fit was charged to: who, when, what is left."
)
@limit_option()
def command(model: Path, output: Path | None, evaluation: Path | None, ledger: Path | None) -> None:
    """Write the report of MODEL (a folder or a model.json).

    The cost of all listed releases is counted anew, so a file that promises too much is found out.
    """
    from sparsedp.cli.show import echo_verdict, score_lines
    from sparsedp.data.files.opened import read_json
    from sparsedp.privacy import Ledger
    from sparsedp.release import PublishedModel, write_report
    from sparsedp.release.approval.charged import Charged
    from sparsedp.release.approval.signed import Signed
    from sparsedp.release.approval.verify import verify

    published = PublishedModel.load(model)
    scores = None
    if evaluation is not None:
        scores = read_json(evaluation, "the output of sparsedp evaluate --json")
        if not isinstance(scores, dict):
            raise ValueError(f"{evaluation} does not hold the output of sparsedp evaluate --json")
    folder = model if model.is_dir() else model.parent
    found = verify(model)
    charged = None if ledger is None else Charged.of(published, Ledger(path=ledger))
    path = write_report(
        published,
        output or folder / "report.html",
        scores,
        found.verdict,
        charged=charged,
        signed=Signed.beside(model),
    )
    echo_verdict(found.verdict)
    for line in () if published.scores is None else score_lines(published.scores):
        click.echo(line)
    delta = published.privacy["delta"]
    click.echo(
        f"Counted anew: epsilon = {found.verdict.epsilon:.4g} at delta = {delta:g}\nWrote {path}"
    )
    click.get_current_context().exit(1 if found.problems else 0)

"""``sparsedp verify``: does a model file keep what it says?"""

from pathlib import Path

import click

from sparsedp.cli.options import anywhere, existing, json_option, limit_option


@click.command("verify")
@click.argument("model", type=existing)
@click.option("--ledger", type=anywhere, help="The ledger that the fit was charged to.")
@limit_option()
@json_option()
@click.pass_context
def command(ctx: click.Context, model: Path, ledger: Path | None, as_json: bool) -> None:
    """Count anew what MODEL (a folder or a model.json) claims.

    Exits with 1 if the file claims more than its releases prove, or if its statement, flag, hash,
    solver or ledger do not fit; with 0 if it keeps its word, private or not.
    """
    from sparsedp.cli.show import echo_json, echo_verdict, echo_wrapped, verdict_json
    from sparsedp.privacy import Ledger
    from sparsedp.release.verify import verify

    found = verify(model, None if ledger is None else Ledger(path=ledger))
    if as_json:
        more = {"holds": not found.problems, "problems": found.problems, "notes": found.notes}
        echo_json({**verdict_json(found.verdict), **more})
    else:
        echo_verdict(found.verdict)
        for note in found.notes:
            echo_wrapped(f"Not checked: {note}")
        if not found.problems:
            click.echo("The file claims no more than its releases prove.")
    ctx.exit(1 if found.problems else 0)

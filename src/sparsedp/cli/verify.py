"""``sparsedp verify``: does a model file keep what it says?"""

from dataclasses import asdict
from pathlib import Path

import click

from sparsedp.cli.options import anywhere, existing, json_option, limit_option


@click.command("verify")
@click.argument("model", type=existing)
@click.option("--ledger", type=anywhere, help="The ledger that the fit was charged to.")
@click.option("--public-key", type=existing, help="Of whoever must have signed the model, in PEM.")
@limit_option()
@json_option()
@click.pass_context
def command(
    ctx: click.Context, model: Path, ledger: Path | None, public_key: Path | None, as_json: bool
) -> None:
    """Count anew what MODEL (a folder or a model.json) claims.

    Exits with 1 if the file claims more than its releases prove, or if its statement, flag, hash,
    solver, ledger or signature do not fit; with 0 if it keeps its word, private or not.
    """
    from sparsedp.cli.show import echo_json, echo_verdict, echo_wrapped, verdict_json
    from sparsedp.privacy import Ledger
    from sparsedp.privacy.verdict import contradicted
    from sparsedp.release.approval.sign import check_signature
    from sparsedp.release.approval.verify import verify

    opened = None if ledger is None else Ledger(path=ledger)
    found = verify(model, opened)
    signature, wrong = check_signature(model, public_key, opened)
    problems = (*found.problems, *wrong)
    verdict, notes = contradicted(found.verdict, wrong), list(found.notes)
    if signature is not None and public_key is None:
        notes.append(
            f"The model is signed by the key {signature.public_key}; whose that is was not asked: "
            "use --public-key FILE."
        )
    if as_json:
        more = {"holds": not problems, "problems": problems, "notes": notes}
        signed = None if signature is None or wrong else asdict(signature)
        echo_json({**verdict_json(verdict), **more, "signature": signed})
    else:
        echo_verdict(verdict)
        for note in notes:
            echo_wrapped(f"Not checked: {note}")
        if signature is not None and not wrong:
            echo_wrapped(f"Signed by {signature.signer} ({signature.signed_at}).")
        if not problems:
            click.echo("The file claims no more than its releases prove.")
    ctx.exit(1 if problems else 0)

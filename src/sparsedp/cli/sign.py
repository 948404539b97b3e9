"""``sparsedp sign``: vouch for a model file."""

import sys
from pathlib import Path

import click

from sparsedp.cli.options import anywhere, existing, limit_option


@click.command("sign")
@click.argument("model", type=existing, required=False)
@click.option("--key", type=existing, help="Your Ed25519 private key, in PEM.")
@click.option("--name", help="Who signs: a name or an office.")
@click.option("--ledger", type=existing, help="The ledger that the fit was charged to.")
@click.option("--new-key", type=anywhere, help="Make a key first, in this file and FILE.pub.")
@limit_option()
def command(
    model: Path | None,
    key: Path | None,
    name: str | None,
    ledger: Path | None,
    new_key: Path | None,
) -> None:
    """Sign MODEL (a folder or a model.json), which must keep its word.

    The signature stands beside the model, in model.json.signature. It covers the model file, with
    the record of what was spent, and how far the ledger had come. `sparsedp verify MODEL
    --public-key FILE` checks it.
    """
    from sparsedp.privacy import Ledger
    from sparsedp.release.approval.sign import make_key, sign, signature_path

    for file in filter(None, (key, new_key)):
        if model is not None and model.is_dir() and model.resolve() in file.resolve().parents:
            raise ValueError(
                "a key in the folder of the model is published with it: keep it elsewhere"
            )
    if new_key is not None:
        if key is not None:
            raise ValueError("give --key for a key that there is, or --new-key, not both")
        public = make_key(new_key)
        click.echo(
            f"Wrote the private key {new_key}, which is yours alone, and {public} for others"
        )
        if model is None:
            return
        key = new_key
    if model is None or key is None or name is None:
        raise ValueError("signing needs MODEL, --key FILE and --name NAME")
    opened = None if ledger is None else Ledger(path=ledger)
    signature = sign(model, key, signer=name, ledger=opened, password=_password)
    click.echo(f"Signed by {signature.signer}: wrote {signature_path(model)}")
    click.echo("`sparsedp report` writes the page anew, with the signature.")


def _password() -> str:
    """By whoever sits at the terminal; where there is none, a line of standard input."""
    if not sys.stdin.isatty():
        line = sys.stdin.readline()
        if not line:
            raise ValueError("the key has a password: sign in a terminal, which asks for it")
        return line.rstrip("\n")
    return click.prompt("Password of the key", hide_input=True, err=True)

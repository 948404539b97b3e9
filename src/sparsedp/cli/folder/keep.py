"""From a model in memory to its folder; nothing that was paid for is lost on the way."""

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sparsedp.cli.folder.output import Output
from sparsedp.cli.folder.stopping import Unfinished
from sparsedp.cli.folder.swap import write_whole
from sparsedp.release import PublishedModel
from sparsedp.release.approval.charged import Charged
from sparsedp.release.report import render_report

if TYPE_CHECKING:
    from sparsedp.privacy import Ledger


def keep(output: Output, model: PublishedModel, ledger: "Ledger | None") -> None:
    """Store a model the moment it exists, then note in the ledger that it does."""
    content = model.to_json().encode()
    try:
        output.store(content)
    except OSError as error:
        where = _elsewhere(
            content, None if ledger is None or ledger.path is None else Path(ledger.path)
        )
        raise Unfinished(
            f"The model could not be written to {output.shown} ({error.strerror}), but it is not "
            f"lost: {where}. 'sparsedp report' makes its page from that file."
        ) from None
    settle(ledger, content)


def settle(ledger: "Ledger | None", model: bytes) -> None:
    """Note in the ledger that the charge of this model has been used; once is enough."""
    from sparsedp.privacy.ledger import LedgerError, Receipt

    charged = json.loads(model)["privacy"].get("ledger")
    if ledger is None or charged is None:
        return
    receipt = Receipt(charged["id"], charged["line"], charged["head"])
    try:
        ledger.finish(receipt, hashlib.sha256(model).hexdigest())
    except LedgerError as error:  # the model is safe: only the note is missing
        click.secho(
            f"Warning: the ledger lists this charge as pending: {error}", fg="red", err=True
        )


def place(output: Output, model: PublishedModel, ledger: "Ledger | None", *, force: bool) -> None:
    """Write the report and put the folder in place."""
    output.finish(render_report(model, charged=_charged(model, ledger)), force=force)


def _charged(model: PublishedModel, ledger: "Ledger | None") -> Charged | None:
    """What the ledger says; a page that does without is better than a model that is not placed."""
    if ledger is None or model.privacy.get("ledger") is None:
        return None
    try:
        return Charged.of(model, ledger)
    except (ValueError, OSError):
        return None


def resume(output: Output, *, force: bool) -> PublishedModel:
    """Finish what an interrupted fit stored; return the model, which may already be in place."""
    from sparsedp.privacy.ledger import Ledger, LedgerError

    note = output.resume()
    if note is None:
        return PublishedModel.load(output.folder)
    model = PublishedModel.load(output.new)
    ledger = None
    if isinstance(note["ledger"], str):
        try:
            ledger = Ledger(path=note["ledger"])
            settle(ledger, output.model)
        except LedgerError as error:  # a model that is paid for does not wait for its ledger
            click.secho(f"Warning: {error}", fg="red", err=True)
    place(output, model, ledger, force=force or note["force"])
    return model


def _elsewhere(content: bytes, ledger: Path | None) -> str:
    """Keep a model beside the ledger, or else print it."""
    if ledger is not None:
        path = ledger.with_name(f"{ledger.name}.{hashlib.sha256(content).hexdigest()[:12]}.json")
        try:
            write_whole(path, content)
            return f"it is in {path}"
        except OSError:
            pass
    click.echo(content.decode())
    return "it was printed, keep that"

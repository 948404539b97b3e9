"""``sparsedp ledger``: show, make, verify or convert a budget."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sparsedp.cli.options import existing, json_option, relations

if TYPE_CHECKING:
    from sparsedp.privacy import Ledger, Neighbors
    from sparsedp.privacy.ledger.entries import Charge
    from sparsedp.privacy.ledger.rules import Rule


class Unfit(click.ClickException):
    """A ledger that is not what it was."""

    exit_code = 1


@click.command("ledger")
@click.argument("file", nargs=-1, required=True, metavar="[verify] FILE")
@click.option("--create", is_flag=True, help="Make a new ledger.")
@click.option("--epsilon", type=float, help="The whole budget of a new ledger.")
@click.option("--delta", type=float, help="The whole budget of a new ledger.")
@click.option(
    "--rule",
    type=click.Choice(("sum", "union")),
    help='How a new ledger counts: "sum" (default) adds epsilons; "union" admits more small fits.',
)
@click.option(
    "--unit",
    type=click.Choice(("record", "person")),
    help='Whom a new ledger protects; by default every "record".',
)
@click.option(
    "--neighbors",
    type=relations,
    help="What all charges of a new ledger compare; by default the first charge decides.",
)
@click.option("--upgrade", is_flag=True, help="Convert a ledger of version 0.1; keeps all charges.")
@click.option(
    "--model",
    "models",
    multiple=True,
    type=existing,
    help="With verify: a model that was charged to this ledger; may be repeated.",
)
@json_option()
def command(
    file: tuple[str, ...],
    create: bool,
    epsilon: float | None,
    delta: float | None,
    rule: "Rule | None",
    unit: str | None,
    neighbors: "Neighbors | None",
    upgrade: bool,
    models: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Show the budget in FILE and what was spent, or verify that nothing in it was changed.

    One ledger belongs to one set of records: everything that is ever released about them is charged
    to it. An old copy that was put back is found by the models that were charged since: give them
    to verify.
    """
    from sparsedp.privacy.ledger import Ledger
    from sparsedp.privacy.ledger.upgrade import upgrade as convert

    verifying = file[0] == "verify" and len(file) > 1
    names = file[1:] if verifying else file
    if len(names) != 1:
        raise click.UsageError(f"one ledger at a time, got {', '.join(names)}")
    path = Path(names[0])
    if create:
        if path.exists():
            raise ValueError(f"{path} exists: a budget is made once")
        if epsilon is None or delta is None:
            raise ValueError("a new ledger needs --epsilon and --delta: the whole budget")
        path.parent.mkdir(parents=True, exist_ok=True)
        opened = Ledger(epsilon, delta, path, rule=rule, unit=unit, neighbors=neighbors)
        _show(opened, as_json=as_json)
        return
    if epsilon is not None or delta is not None or any((rule, unit, neighbors)):
        raise ValueError(
            "a budget cannot be changed: --epsilon, --delta, --rule, --unit and --neighbors go "
            "with --create"
        )
    if models and not verifying:
        raise ValueError("--model goes with verify: sparsedp ledger verify FILE --model MODEL")
    if not path.exists():
        raise ValueError(f"there is no ledger at {path}: make one by --create")
    if upgrade:
        convert(path)
    if verifying:
        _verify(path, models, as_json=as_json)
    else:
        _show(Ledger(path=path), as_json=as_json)


def _verify(file: Path, models: tuple[Path, ...], *, as_json: bool) -> None:
    from sparsedp.cli.show import echo_json
    from sparsedp.privacy.ledger import Ledger, LedgerError, Receipt
    from sparsedp.release import PublishedModel

    receipts = {}
    for path in models:
        charged = PublishedModel.load(path).privacy.get("ledger")
        if charged is None:
            raise ValueError(f"{path} was not charged to a ledger, or by a version before 0.2")
        receipts[path] = Receipt(charged["id"], charged["line"], charged["head"])
    try:
        ledger = Ledger(path=file)
        head = ledger.verify()
        for path, receipt in receipts.items():
            try:
                ledger.verify([receipt])
            except LedgerError as error:
                raise LedgerError(f"{path}: {error}") from None
    except LedgerError as error:
        raise Unfit(" ".join(str(error).split())) from None
    if as_json:
        echo_json({"verified": True, **head.to_dict(), "models": [str(path) for path in models]})
        return
    known = f", and knows {len(models)} given" if models else ""
    click.echo(f"Every line follows from those before it{known}.")
    click.echo(f"Last line {head.line}, head {head.head}")
    if not models:
        click.echo("An old copy passes too: give models charged to this ledger by --model.")


def _show(ledger: "Ledger", *, as_json: bool) -> None:
    from sparsedp.cli.show import echo_json
    from sparsedp.privacy.ledger.entries import UNIT_NAMES

    history, planned = ledger.history(), ledger.planned_total()
    left, used, terms, head = ledger.remaining(), ledger.used(), ledger.terms, ledger.verify()
    if as_json:
        echo_json(
            {
                "budget": {"epsilon": ledger.epsilon, "delta": ledger.delta},
                "terms": terms,
                "used": used,
                "remaining": left._asdict(),
                "planned_total": planned,
                "head": head.to_dict(),
                "history": [charge._asdict() for charge in history],
            }
        )
        return
    click.echo(f"Budget  epsilon = {ledger.epsilon:g}, delta = {ledger.delta:g}")
    kind = f"rule {terms['rule']}, protects every {UNIT_NAMES[terms['unit']]}"
    click.echo(f"Terms   {kind}, neighbors {terms['neighbors'] or 'not fixed yet'}")
    by_sum = " by the sum of charges" if terms["rule"] == "union" else ""
    click.echo(f"Left    epsilon = {left.epsilon:g}, delta = {left.delta:g}{by_sum}")
    click.echo(f"{_percent(used)} of the budget is used.")
    if not history:
        click.echo("Nothing has been charged.")
        return
    _show_lines(history)
    pending = sum(charge.pending for charge in history)
    if pending:
        click.echo(
            f"{pending} pending: charged, and no model has come of it (the fit failed, was stopped "
            "or still runs)."
        )
    if len(history) > 1 and planned < sum(charge.epsilon for charge in history) * (1 - 1e-9):
        click.echo(
            "If the number of these charges and their sizes were fixed before the first of them, "
            f"together they cost\nepsilon = {planned:.4g} at delta = {ledger.delta:g}. "
            f"What is left is reckoned by the ledger's rule, {terms['rule']}."
        )


def _show_lines(history: "Sequence[Charge]") -> None:
    from sparsedp.cli.show import table_lines

    rows = [["line", "time", "who", "for", "data", "unit", "noise", "model", "epsilon", "delta"]]
    for charge in history:
        table = "" if charge.table is None else f"#{charge.table}"
        noise = {None: "-", True: "SEEDED", False: "secret"}[charge.seeded]
        rows.append(
            [
                str(charge.line),
                charge.time,
                charge.who or "-",
                charge.what or "-",
                f"{charge.data or ''} {table}".strip() or "-",
                charge.unit,
                noise,
                "pending" if charge.pending else "made",
                f"{charge.epsilon:g}",
                f"{charge.delta:g}",
            ]
        )
    for line in table_lines([[_printable(cell) for cell in row] for row in rows], left=8):
        click.echo(line)


def _printable(text: str) -> str:
    """Names as a terminal may show them: a ledger from elsewhere can hold anything."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)


def _percent(used: float) -> str:
    """Rounded up: what is used is never shown as less."""
    return f"{-int(-used * 100 // 1)} %"

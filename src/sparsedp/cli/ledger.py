"""``sparsedp ledger``: show or make a budget."""

from pathlib import Path

import click

from sparsedp.cli.options import anywhere, json_option


@click.command("ledger")
@click.argument("file", type=anywhere)
@click.option("--create", is_flag=True, help="Make a new ledger.")
@click.option("--epsilon", type=float, help="The whole budget of a new ledger.")
@click.option("--delta", type=float, help="The whole budget of a new ledger.")
@json_option()
def command(
    file: Path, create: bool, epsilon: float | None, delta: float | None, as_json: bool
) -> None:
    """Show the budget in FILE and what was spent.

    One ledger belongs to one set of records: everything that is ever released about them is charged
    to it.
    """
    from sparsedp.cli.show import echo_json, table_lines
    from sparsedp.privacy import Ledger

    if create:
        if file.exists():
            raise ValueError(f"{file} exists: a budget is made once")
        if epsilon is None or delta is None:
            raise ValueError("a new ledger needs --epsilon and --delta: the whole budget")
        file.parent.mkdir(parents=True, exist_ok=True)
        opened = Ledger(epsilon, delta, file)
    else:
        if epsilon is not None or delta is not None:
            raise ValueError("a budget cannot be changed: --epsilon and --delta go with --create")
        if not file.exists():
            raise ValueError(f"there is no ledger at {file}: make one by --create")
        opened = Ledger(path=file)
    left, history, planned = opened.remaining(), opened.history(), opened.planned_total()
    if as_json:
        echo_json(
            {
                "budget": {"epsilon": opened.epsilon, "delta": opened.delta},
                "remaining": left._asdict(),
                "planned_total": planned,
                "history": [charge._asdict() for charge in history],
            }
        )
        return
    click.echo(f"Budget  epsilon = {opened.epsilon:g}, delta = {opened.delta:g}")
    click.echo(f"Left    epsilon = {left.epsilon:g}, delta = {left.delta:g}")
    if not history:
        click.echo("Nothing has been charged.")
        return
    rows = [["time", "for", "neighbors", "epsilon", "delta"]]
    rows += [[c.time, c.what, c.neighbors, f"{c.epsilon:g}", f"{c.delta:g}"] for c in history]
    for line in table_lines(rows, left=3):
        click.echo(line)
    if len(history) > 1 and planned < sum(charge.epsilon for charge in history) * (1 - 1e-9):
        click.echo(
            "If the number of these charges and their sizes were fixed before the first of them, "
            f"together they cost\nepsilon = {planned:.4g} at delta = {opened.delta:g}. "
            "What is left is reckoned by their sum."
        )

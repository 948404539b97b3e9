"""``sparsedp audit``: attack our own methods, and show what one record can really be seen to do."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from sparsedp.cli.options import calibrations, json_option, relations

if TYPE_CHECKING:
    from sparsedp.audit import AuditResult
    from sparsedp.audit.constructions import Construction, Replayed
    from sparsedp.audit.entrance import Entrance
    from sparsedp.audit.targets import Target
    from sparsedp.privacy import Neighbors

RUNS = 50


@click.command("audit")
@click.option(
    "--all", "everything", is_flag=True, help="Audit every solver, and what papers claim."
)
@click.option("--solver", metavar="NAME", help="Audit one solver: sparsifier, frank_wolfe, ...")
@click.option(
    "--erratum",
    metavar="NAME",
    help="Convict a claim of a paper that does not hold; list names them, all runs all.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting of the solver, such as n_steps=20; may be repeated.",
)
@click.option(
    "--calibration",
    type=calibrations,
    default="sound",
    show_default=True,
    help="Our method, the paper's with noise that is proven, or as the paper prints it.",
)
@click.option(
    "--loss",
    type=click.Choice(("logistic", "squared", "multinomial", "huber", "poisson")),
    help="Only this loss; by default all that the solver takes.",
)
@click.option("--epsilon", type=float, default=2.0, show_default=True, help="The claim to test.")
@click.option("--delta", type=float, default=0.01, show_default=True, help="The claim to test.")
@click.option(
    "--neighbors",
    type=relations,
    help="Only this relation; by default both.",
)
@click.option(
    "--runs",
    type=click.IntRange(min=10),
    default=RUNS,
    show_default=True,
    help="Fits on each of two neighbors, per line of the table.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of all noise.")
@json_option()
def command(
    everything: bool,
    solver: str | None,
    erratum: str | None,
    settings: tuple[str, ...],
    calibration: str,
    loss: str | None,
    epsilon: float,
    delta: float,
    neighbors: "Neighbors | None",
    runs: int,
    seed: int,
    as_json: bool,
) -> None:
    """Attack our own methods on the worst neighbors known.

    Needs no data. A lower bound above the claim is a proof that the claim is wrong; below it, the
    attacks found nothing. Exit code 1 if a method that is said to be sound fails, or if an erratum
    cannot be confirmed.
    """
    from sparsedp.cli.show import echo_json
    from sparsedp.solvers.solver import guaranteed

    if everything + (solver is not None) + (erratum is not None) != 1:
        raise ValueError("give either --all, --solver NAME or --erratum NAME")
    if erratum is not None:
        _convict(erratum, as_json)
        return
    if epsilon <= 0 or not 0 < delta < 1:
        raise ValueError("--epsilon must be positive, and --delta between 0 and 1")
    if everything and (settings or calibration != "sound"):
        raise ValueError("--set and --calibration need --solver NAME")
    if solver is None:
        targets = _everything(epsilon, delta, loss, neighbors)
    else:
        targets = _one(solver, settings, calibration, epsilon, delta, loss, neighbors)
    results = _run(targets, runs, seed)
    if as_json:
        echo_json([result.to_dict() for result in results])
    else:
        _echo_table(results)
    if any(guaranteed(r.calibration) and r.verdict != "passed" for r in results):
        raise click.exceptions.Exit(1)


def _convict(name: str, as_json: bool) -> None:
    """Run what convicts one claim of a paper, or all of them, or say which there are."""
    from sparsedp.audit.errata import errata, erratum
    from sparsedp.cli.show import echo_json, table_lines

    entries = errata() if name in ("list", "all") else (erratum(name),)
    if name == "list":
        rows = [[entry.name, entry.paper, entry.reference] for entry in entries]
        if as_json:
            echo_json([dict(zip(("name", "paper", "reference"), row, strict=True)) for row in rows])
        else:
            click.echo("\n".join(table_lines(rows, left=3)))
        return
    verdicts, contents = [], []
    for i, entry in enumerate(entries):
        finding = entry.convict()
        verdicts.append(finding.stands)
        contents.append(entry.to_dict(finding))
        if not as_json:
            click.echo("\n".join(["", *entry.lines(finding)] if i else entry.lines(finding)))
    if as_json:
        echo_json(contents)
    if not all(verdicts):
        raise click.exceptions.Exit(1)


def _registered(
    name: str | None,
    epsilon: float,
    delta: float,
    loss: str | None,
    neighbors: "Neighbors | None",
) -> "list[Target]":
    """Registered solvers, or one of them, with the losses and relations that were asked for."""
    from sparsedp.audit.targets import LOSSES, registered
    from sparsedp.privacy import NEIGHBORS
    from sparsedp.solvers import BY_NAME

    return list(
        registered(
            epsilon,
            delta,
            names=list(BY_NAME) if name is None else [name],
            losses=[loss] if loss else list(LOSSES),
            neighbors=[neighbors] if neighbors else NEIGHBORS,
        )
    )


def _everything(
    epsilon: float, delta: float, loss: str | None, neighbors: "Neighbors | None"
) -> "list[Target | Entrance | Construction | Replayed]":
    """Every solver, what papers claim, every way into ``fit``, and what once broke it."""
    from sparsedp.audit.constructions import constructions
    from sparsedp.audit.entrance import entrances
    from sparsedp.audit.targets import (
        bent,
        inferring,
        interacting,
        loud,
        persons,
        proven,
        published,
        sharp,
    )

    sound = (*sharp(), *persons(), *bent(), *interacting(), *loud(), *inferring())
    others = (*sound, *proven(), *published(), *entrances(), *constructions())
    return [
        *_registered(None, epsilon, delta, loss, neighbors),
        *(target for target in others if neighbors in (None, target.neighbors)),
    ]


def _one(
    solver: str,
    settings: tuple[str, ...],
    calibration: str,
    epsilon: float,
    delta: float,
    loss: str | None,
    neighbors: "Neighbors | None",
) -> "list[Target]":
    """One solver, as the audit sets it or with settings of one's own."""
    from dataclasses import replace

    from sparsedp.cli.declared.solver import build_solver

    built = build_solver(solver, settings, calibration)
    chosen = bool(settings) or calibration != "sound"
    named = _registered(solver, epsilon, delta, loss, neighbors)
    return [replace(target, solver=built) if chosen else target for target in named]


def _run(
    targets: "Sequence[Target | Entrance | Construction | Replayed]", runs: int, seed: int
) -> "list[AuditResult]":
    """All audits, one after the other; those that a solver refuses are named and left out."""
    from sparsedp.audit import Refused

    results, refusal = [], ""
    for i, target in enumerate(targets, 1):
        label = f"{target.name}, {type(target.loss).__name__.lower()}, {target.neighbors}"
        click.echo(f"[{i}/{len(targets)}] {label}", err=True)
        try:
            results.append(target.run(runs, seed))
        except Refused as error:
            refusal = str(error)
            click.echo(f"  not audited: {refusal}", err=True)
    if not results:
        raise ValueError(refusal)
    return results


def _echo_table(results: "list[AuditResult]") -> None:
    from sparsedp.cli.show import table_lines

    heads = "method", "loss", "calibration", "neighbors", "verdict", "claimed", "lower bound"
    rows = [[*heads, "moved/declared"]]
    for result in results:
        exact = " (exact)" if result.runs == 0 else ""
        rows.append(
            [
                result.method,
                result.loss,
                result.calibration,
                result.neighbors,
                result.verdict,
                f"({result.epsilon:g}, {result.delta:g})",
                f"{result.epsilon_lower_bound:.2f}{exact}",
                f"{result.movement:.3g}",
            ]
        )
    for line in table_lines(rows, left=5):
        click.echo(line)
    broken = {(r.method, r.calibration): r.fault for r in results if r.fault is not None}
    for (method, calibration), fault in broken.items():
        click.echo(f"  {method}, {calibration}: {fault}")
    confidence = min(result.confidence for result in results)
    click.echo(
        f"Lower bounds on epsilon at the claimed delta, each with confidence {confidence:.6g};\n"
        "moved/declared: the most that one record moved a query, over what the solver declared."
    )

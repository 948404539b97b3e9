"""Quality before a fit on the command line: what is said about it, and the plan that follows."""

import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import click

from sparsedp.cli.options import Decorator, Verb, together

if TYPE_CHECKING:
    from sparsedp.cli.declared.declared import Declared
    from sparsedp.cli.declared.given import Given
    from sparsedp.cli.declared.source import Source
    from sparsedp.planning import QualityPlan
    from sparsedp.planning.public import PublicSample
    from sparsedp.planning.result import Promise
    from sparsedp.privacy import Neighbors

OTHER = "quality was measured with the default settings; nothing is known about {what}"


class Guessed(TypedDict):
    """What is believed about the records, by whoever plans."""

    records: float | None
    ceiling: tuple[float, float] | None
    rate: float | None
    spread: float | None


class _Range(click.ParamType):
    """A number, or two with a colon in between."""

    name = "range"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, float]:
        """Read LOW:HIGH; run.toml has a list."""
        parts = value if isinstance(value, list | tuple) else str(value).split(":")
        try:
            numbers = [float(str(part)) for part in parts]
        except ValueError:
            numbers = []
        if len(numbers) not in (1, 2):
            self.fail(f"{value!r:.40} is no number and no range such as 0.80:0.88", param, ctx)
        return numbers[0], numbers[-1]


def planning_options() -> Decorator[Verb]:
    """--records, --ceiling, --rate and --spread"""
    return together(
        click.option(
            "--records",
            type=click.FloatRange(min=1),
            help="Records (or persons) that are planned, about: a public number, never counted.",
        ),
        click.option(
            "--ceiling",
            type=_Range(),
            metavar="LOW:HIGH",
            help="AUC, R2 or accuracy that a good model without privacy is believed to reach.",
        ),
        click.option(
            "--rate", type=float, help="Share of the second class; of several, of the largest."
        ),
        click.option(
            "--spread", type=float, help="Of a number: deviation over half the width of its limits."
        ),
    )


@dataclass(frozen=True)
class Settings:
    """What a prediction depends on beside the records.

    Parameters
    ----------
    epsilon, delta, neighbors, holdout
        Of the fit.
    others : tuple of str
        Options with which the fit leaves the defaults, for which nothing was measured.
    """

    epsilon: float
    delta: float
    neighbors: "Neighbors"
    holdout: float | None
    others: tuple[str, ...] = ()


def others_than_default(
    solver: str, settings: tuple[str, ...], n_nonzero: int | None, shapes: str, calibration: str
) -> tuple[str, ...]:
    """Options that the law does not speak for."""
    said = {
        "--solver": solver != "pursuit",
        "--set": bool(settings),
        "--n-nonzero": n_nonzero is not None,
        "--shapes": shapes != "auto",
        "--calibration": calibration != "sound",
    }
    return tuple(name for name, other in said.items() if other)


def quality_plan(
    guessed: Guessed,
    settings: Settings,
    *,
    task: str,
    n_classes: int,
    n_features: int,
    row_norm: float | None = None,
    ledger: Path | None = None,
    public: "PublicSample | None" = None,
) -> "QualityPlan":
    """The plan; what was not measured raises `NotMeasured`."""
    from sparsedp.data.bounds import Bounds
    from sparsedp.planning import NotMeasured, plan
    from sparsedp.privacy import Ledger

    if settings.others:
        raise NotMeasured(OTHER.format(what=", ".join(settings.others)))
    if guessed["records"] is None:
        raise click.UsageError("Missing option '--records': how many records are planned, about.")
    return plan(
        n_records=guessed["records"],
        n_features=n_features,
        bounds=None if row_norm is None else Bounds(-1, 1, row_norm=row_norm),
        epsilon=settings.epsilon,
        delta=settings.delta,
        ceiling=guessed["ceiling"],
        rate=guessed["rate"],
        spread=guessed["spread"],
        task=task,
        n_classes=n_classes if task == "classification" else None,
        neighbors=settings.neighbors,
        holdout=settings.holdout,
        ledger=Ledger(path=ledger) if ledger is not None and ledger.exists() else None,
        public=public,
    )


def public_sample(source: "Source", declared: "Declared") -> "PublicSample":
    """Read a public file as the fit would read private ones."""
    from sparsedp.cli.declared.records import open_for_fit
    from sparsedp.planning.public import PublicSample

    if source.matrix is not None:
        raise ValueError(f"{source}: --public takes a table with names, not a matrix of numbers")
    opened, schema = open_for_fit(source, declared)
    return PublicSample.from_table(opened.read(), schema)


def expected_of_fit(
    given: "Given", declared: "Declared", n_features: int, row_norm: float | None
) -> "Promise | None":
    """Print what is expected of a fit, and ask before it is paid for if that is nothing.

    From public numbers alone: how many records there are is what was declared, never counted.
    """
    from sparsedp.planning import NotMeasured

    if given["records"] is None or math.isinf(given["epsilon"]):
        return None
    _check_round(given["records"], given["neighbors"], persons=declared.schema.person is not None)
    others = others_than_default(
        given["solver"],
        given["settings"],
        given["n_nonzero"],
        given["shapes"],
        given["calibration"],
    )
    own = {
        "--loss": given["loss"] != "squared",
        "--monotone": bool(given["monotone"]),
        "--no-intercept": not given["intercept"],
        "--intervals": given["intervals"],  # part of the budget is kept for them
    }
    others += tuple(name for name, other in own.items() if other)
    guessed: Guessed = {
        "records": given["records"],
        "ceiling": given["ceiling"],
        "rate": given["rate"],
        "spread": given["spread"],
    }
    try:
        found = quality_plan(
            guessed,
            Settings(
                given["epsilon"], given["delta"], given["neighbors"], given["holdout"], others
            ),
            task=declared.task,
            n_classes=declared.n_outputs,
            n_features=n_features,
            row_norm=row_norm,
        )
    except NotMeasured as error:
        click.echo(f"Planned: no prediction, for {error}", err=True)
        return None
    click.echo(found.line(), err=True)
    if found.hopeless and not given["yes"]:
        _ask()
    return found.planned()


def _check_round(records: float, neighbors: "Neighbors", *, persons: bool) -> None:
    """A number that looks counted is refused where their number is private.

    Of persons it is public under replace_one, but that of their rows is not, and what was counted
    cannot be told.
    """
    if (neighbors == "add_remove" or persons) and float(f"{records:.1e}") != records:
        raise ValueError(
            "--records takes a planned number of at most two digits, such as 20000: it is "
            "published with the settings, and the exact number of records is private under "
            "add_remove, that of the rows of persons always"
        )


def _ask() -> None:
    """Whoever pays decides; where nobody can be asked, nothing is paid."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise ValueError(
            "nothing better than guessing is to be expected of this fit, so its budget would buy "
            "nothing; plan more records or a larger epsilon (sparsedp plan), or pass --yes. "
            "Nothing was charged"
        )
    if not click.confirm("Fit all the same, and pay for it?", err=True):
        raise click.Abort

"""Private scores on the command line: the table that is printed, and what is charged."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from sparsedp.data.raw import RawColumn
    from sparsedp.data.schema import Schema
    from sparsedp.evaluation import Evaluation
    from sparsedp.privacy import Ledger, Neighbors
    from sparsedp.release import PublishedModel
    from sparsedp.release.columns import TableLike

WHICH = (
    "exact scores of these records are not private: give --epsilon for private ones (and --ledger "
    "to charge them), or --exact-not-private if nobody else will see them"
)


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A published model that finds columns of a matrix by the names that go with it."""

    published: "PublishedModel"
    names: "Sequence[str] | None"

    @property
    def classes(self) -> tuple[object, ...] | None:
        """Of the model."""
        return self.published.classes

    @property
    def target(self) -> object:
        """What was declared about it."""
        return self.published.target

    @property
    def schema(self) -> "Schema | None":
        """Which columns hold what, if the model has one."""
        return self.published.schema

    def decision_function(self, X: "TableLike") -> "np.ndarray":
        """Margins."""
        return self.published.decision_function(X, self.names)

    def predict(self, X: "TableLike") -> "np.ndarray":
        """Labels or numbers."""
        return self.published.predict(X, self.names)


def check_asked(epsilon: float | None, ledger: Path | None, exact: bool) -> None:
    """One kind of scores has to be asked for, before a file is opened."""
    if exact == (epsilon is not None) or epsilon == float("inf"):
        raise ValueError(WHICH)
    if exact and ledger is not None:
        raise ValueError("exact scores cannot draw from a ledger: leave out --ledger")


def opened(path: Path | None) -> "Ledger | None":
    """The ledger to charge; it must be there."""
    from sparsedp.privacy import Ledger

    if path is None:
        return None
    if not path.exists():
        raise ValueError(f"there is no ledger at {path}: make one by sparsedp fit, or in Python")
    return Ledger(path=path)


def private_scores(
    model: LoadedModel,
    X: "TableLike",
    y: "RawColumn",
    *,
    epsilon: float,
    neighbors: "Neighbors",
    ledger: "Ledger | None",
) -> "Evaluation":
    """Charge and score, with what the model does about malformed records."""
    from sparsedp.evaluation import evaluate

    return evaluate(
        model,
        X,
        y,
        epsilon=epsilon,
        neighbors=neighbors,
        ledger=ledger,
        invalid=model.published.invalid,
    )


def echo_scores(found: "Evaluation", name: str) -> None:
    """A table to read, the guarantee, and what was refused."""
    from sparsedp.cli.show import echo_wrapped, table_lines

    rows = [["", "estimate", "95 % interval", "null"]]
    for score, each in found.scores.items():
        null = f"{found.null[score]:.4g}" if score in found.null else ""
        rows.append([score, f"{each.value:.4g}", f"{each.lower:.4g} to {each.upper:.4g}", null])
    click.echo(f"{name}, private scores")
    for line in table_lines(rows) if found.scores else ():
        click.echo(line)
    for score, why in found.refused.items():
        echo_wrapped(f"{score}: refused, {why}.")
    if found.hint is not None and found.scores:
        echo_wrapped(f"{found.hint}.")
    echo_wrapped(found.privacy.statement())

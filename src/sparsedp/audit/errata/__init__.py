"""Claims of four papers that do not hold, each with what convicts it (docs/errata.md).

Papers are convicted by the simplest construction that does: exact laws where there are some,
fits through the door elsewhere. Every attack on noise is also made on noise that is proven.
"""

from sparsedp.audit.errata import (
    ight,
    lasso,
    listing,
    pretraining,
    pretraining_table,
    screening,
    sparsifier,
    tables,
    tuning,
)
from sparsedp.audit.errata.erratum import Erratum, Finding

__all__ = ["Erratum", "Finding", "errata", "erratum"]


def errata() -> tuple[Erratum, ...]:
    """All of them, paper by paper."""
    return (
        *lasso.errata(),
        *tuning.lasso_errata(),
        *sparsifier.errata(),
        *tables.errata(),
        *listing.errata(),
        *ight.errata(),
        *tuning.ight_errata(),
        *pretraining.errata(),
        *pretraining_table.errata(),
        *screening.errata(),
    )


def erratum(name: str) -> Erratum:
    """The one of that name."""
    found = [entry for entry in errata() if entry.name == name]
    if not found:
        raise ValueError(
            f"there is no erratum {name!r}; sparsedp audit --erratum list names all of them"
        )
    return found[0]

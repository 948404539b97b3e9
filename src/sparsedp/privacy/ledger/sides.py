"""A ledger for one side of coins that persist: all its lines name that side and the key.

Two ledgers of (epsilon, delta), one for each side, are (epsilon, delta) together only if nothing on
either concerns anybody on the other side (events/parallel.md). So a ledger that has a line of a
side takes lines of this side alone, and one that has others takes no line of a side.
"""

import re

from sparsedp.privacy.ledger.errors import LedgerError
from sparsedp.privacy.ledger.state import State

MARK = re.compile(r" \[side '([^']{1,40})' of holdout ([0-9a-f]{16})\]$")


def on_side(what: str, side: str, key: str) -> str:
    """What is released, for the line of a ledger of this side."""
    return f"{what} [side '{side}' of holdout {key}]"


def side_of(what: str) -> tuple[str, str] | None:
    """Side and key that a line names; None if it is about everybody."""
    found = MARK.search(what)
    return None if found is None else (found[1], found[2])


def check_side(state: State, what: str) -> None:
    """Raise unless the charges so far are of the side that this one is of: all are of one."""
    charges = (line for line in state.lines if line.kind == "charge")
    first = next((state.read(line)["what"] for line in charges), what)
    if side_of(first) != side_of(what):
        raise LedgerError(
            f"the ledger {state.path} is kept for one side of a holdout, or for everybody: a "
            "charge for others would be paid by neither side's budget alone. Each side of a key "
            "has a ledger of its own, and releases about everybody have another; nothing was "
            "charged"
        )

"""Ledgers of version 0.1: their charges move into lines, none is lost."""

import json
import sqlite3
from pathlib import Path

from sparsedp.privacy.ledger.chain import Line, encoded, linked
from sparsedp.privacy.ledger.errors import LedgerError
from sparsedp.privacy.ledger.head import Receipt, write_head
from sparsedp.privacy.ledger.state import first_line
from sparsedp.privacy.ledger.store import Store, fill
from sparsedp.privacy.ledger.sums import text_of
from sparsedp.privacy.neighbors import NEIGHBORS


def upgrade(path: str | Path) -> None:
    """Convert a ledger of version 0.1 in one transaction.

    Parameters
    ----------
    path : str or Path
        The ledger's file. If something in it cannot be understood, it stays as it is.

    Notes
    -----
    *Privacy.* Every charge is kept, with its time, cost and releases; the rule stays the sum.
    """
    where = Path(path).absolute()
    store = Store(where)
    with store.transaction(write=True, version=0) as db:
        try:
            lines = _converted(db)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise LedgerError(
                f"the ledger {where} of version 0.1 cannot be converted and was left as it is: "
                f"{error}"
            ) from None
        db.execute("DROP TABLE budget")
        db.execute("DROP TABLE charges")
        fill(db, lines)
    write_head(where, Receipt(lines[0].read()["id"], lines[-1].line, lines[-1].hash))


def _converted(db: sqlite3.Connection) -> list[Line]:
    budgets = db.execute("SELECT epsilon, delta FROM budget").fetchall()
    if len(budgets) != 1:
        raise ValueError(f"it states {len(budgets)} budgets")
    epsilon, delta = (float(number) for number in budgets[0])
    if not epsilon > 0 or not 0 <= delta < 1:
        raise ValueError("its budget is not a privacy budget")
    rows = db.execute(
        "SELECT time, epsilon, delta, neighbors, what, events FROM charges ORDER BY rowid"
    ).fetchall()
    relations = sorted({str(row[3]) for row in rows})
    if relations and (len(relations) > 1 or relations[0] not in NEIGHBORS):
        raise ValueError("its charges hold for different neighbor relations")
    lines = [first_line(epsilon, delta, "sum", "record", relations[0] if relations else None)]
    for number, row in enumerate(rows, start=1):
        lines.append(linked(lines[-1].hash, _line(number, row)))
    return lines


def _line(number: int, row: tuple[str, float, float, str, str, str]) -> Line:
    time, epsilon, delta, neighbors, what, events = row
    releases = json.loads(events)
    if not isinstance(releases, list):
        raise ValueError(f"charge {number} lists no releases")
    details = {
        "neighbors": neighbors,
        "what": str(what),
        "events": releases,
        "unit": "record",
        "who": None,
        "data": None,
        "seeded": None,
        "upgraded": True,
    }
    cost = text_of(float(epsilon)), text_of(float(delta))
    return Line(number, "charge", str(time), *cost, None, None, encoded(details), "")

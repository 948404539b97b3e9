"""A privacy budget that several fits draw from, also from several processes."""

import atexit
import json
import math
import os
import shutil
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from sparsedp.privacy.accountants import PrivacyProfile
from sparsedp.privacy.events import PureReleases
from sparsedp.privacy.neighbors import NEIGHBORS, Neighbors


class BudgetExceeded(RuntimeError):
    """A charge was refused: nothing was written and nothing may be drawn."""


class Charge(NamedTuple):
    """One line of a ledger."""

    time: str
    epsilon: float
    delta: float
    neighbors: str
    what: str
    events: list[dict[str, Any]]


class Remaining(NamedTuple):
    """What may still be spent."""

    epsilon: float
    delta: float


class Ledger:
    """A budget (epsilon, delta) for everything that is ever released about one set of records.

    Parameters
    ----------
    epsilon, delta : float
        The whole budget. May be left out to open an existing ledger at ``path``.
    path : str or Path, optional
        Where the ledger is kept (SQLite). Without it the ledger lives as long as this process;
        worker processes that receive it draw from the same budget all the same.

    Notes
    -----
    *Privacy.* Charges add up (basic composition, valid also when later fits depend on earlier
    results). A charge is written before any noise is drawn, in a transaction that excludes other
    processes; one that would overspend is refused. Sums are exact in the decimal digits that were
    given, so ten fits of 0.1 fit into 1. All charges must hold for the same neighbor relation.
    """

    def __init__(
        self,
        epsilon: float | None = None,
        delta: float | None = None,
        path: str | os.PathLike[str] | None = None,
    ) -> None:
        if path is None:
            folder = tempfile.mkdtemp(prefix="sparsedp-ledger-")
            atexit.register(_remove_if_owner, folder, os.getpid())
            self.path = Path(folder) / "ledger.sqlite"
        else:
            self.path = Path(path).absolute()
        if self.path.exists():
            kept = self._budget()
            asked = (epsilon, delta)
            if asked != (None, None) and asked != kept:
                raise ValueError(
                    f"the ledger at {self.path} has the budget epsilon={kept[0]:g}, "
                    f"delta={kept[1]:g}; open it with these, or with Ledger(path=...)"
                )
        else:
            if epsilon is None or not 0 < epsilon < float("inf"):
                raise ValueError(f"a ledger needs a positive, finite epsilon, got {epsilon!r}")
            if delta is None or not 0 <= delta < 1:
                raise ValueError(f"a ledger needs a delta in [0, 1), got {delta!r}")
            with self._transaction(create=True) as db:
                db.execute("CREATE TABLE IF NOT EXISTS budget (epsilon TEXT, delta TEXT)")
                db.execute(
                    "CREATE TABLE IF NOT EXISTS charges "
                    "(time TEXT, epsilon TEXT, delta TEXT, neighbors TEXT, what TEXT, events TEXT)"
                )
                if db.execute("SELECT count(*) FROM budget").fetchone()[0] == 0:
                    db.execute(
                        "INSERT INTO budget VALUES (?, ?)",
                        (repr(float(epsilon)), repr(float(delta))),
                    )
        self.epsilon, self.delta = self._budget()

    def charge(
        self,
        epsilon: float,
        delta: float,
        *,
        neighbors: Neighbors = "add_remove",
        what: str = "",
        events: list[dict[str, Any]] | None = None,
    ) -> None:
        """Write a charge, or refuse it with :class:`BudgetExceeded`."""
        if neighbors not in NEIGHBORS:
            raise ValueError(f"neighbors must be one of {NEIGHBORS}, got {neighbors!r}")
        if not epsilon >= 0 or not 0 <= delta <= 1:
            raise ValueError(f"not a privacy cost: epsilon={epsilon!r}, delta={delta!r}")
        with self._transaction() as db:
            rows = db.execute("SELECT epsilon, delta, neighbors FROM charges").fetchall()
            if rows and rows[0][2] != neighbors:
                raise BudgetExceeded(
                    f"this ledger counts charges under {rows[0][2]!r} neighbors; a fit under "
                    f"{neighbors!r} cannot be added to them: use the same neighbors or a new ledger"
                )
            left = _remaining((self.epsilon, self.delta), rows)
            if Decimal(repr(float(epsilon))) > left[0] or Decimal(repr(float(delta))) > left[1]:
                raise BudgetExceeded(
                    f"the fit would cost epsilon={epsilon:g}, delta={delta:g}, but the ledger has "
                    f"epsilon={float(left[0]):g}, delta={float(left[1]):g} left; nothing was "
                    "charged. Ask for less, or stop publishing about these records"
                )
            db.execute(
                "INSERT INTO charges VALUES (?, ?, ?, ?, ?, ?)",
                (
                    time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                    repr(float(epsilon)),
                    repr(float(delta)),
                    neighbors,
                    what,
                    json.dumps(events or []),
                ),
            )

    def remaining(self) -> Remaining:
        """What is left of the budget."""
        with self._transaction() as db:
            rows = db.execute("SELECT epsilon, delta, neighbors FROM charges").fetchall()
        left = _remaining((self.epsilon, self.delta), rows)
        return Remaining(float(left[0]), float(left[1]))

    def planned_total(self) -> float:
        """Epsilon of all charges at the ledger's delta, if they had been planned beforehand.

        Returns
        -------
        float
            At most the sum of the epsilons, far less for many small ones. What the ledger
            enforces is the sum.

        Notes
        -----
        *Privacy.* The best bound that holds for all (epsilon, delta) mechanisms (Kairouz, Oh and
        Viswanath 2015). It holds if the number of charges and their sizes were decided before
        the first result was seen, as in a grid search; which models are fitted may depend on
        earlier results. For sizes chosen along the way only the sum holds (accounting.md).
        """
        charges = [charge for charge in self.history() if charge.epsilon > 0]
        total = math.fsum(charge.epsilon for charge in charges)
        leaks = math.fsum(math.log1p(-charge.delta) for charge in self.history())
        spare = -math.expm1(math.log1p(-self.delta) - leaks) * (1 - 1e-9)
        if not charges or spare <= 1e-300:
            return total
        counts = Counter(charge.epsilon for charge in charges)
        profile = PrivacyProfile(tuple(PureReleases(e, n) for e, n in counts.items()))
        return min(total, profile.epsilon(spare))

    def history(self) -> list[Charge]:
        """All charges, oldest first."""
        with self._transaction() as db:
            rows = db.execute("SELECT * FROM charges ORDER BY rowid").fetchall()
        return [Charge(t, float(e), float(d), n, w, json.loads(v)) for t, e, d, n, w, v in rows]

    def _budget(self) -> tuple[float, float]:
        try:
            with self._transaction() as db:
                row = db.execute("SELECT epsilon, delta FROM budget").fetchone()
        except sqlite3.DatabaseError as error:
            raise ValueError(f"{self.path} is not a ledger of sparsedp ({error})") from None
        if row is None:
            raise ValueError(f"{self.path} is not a ledger of sparsedp (it has no budget)")
        return float(row[0]), float(row[1])

    @contextmanager
    def _transaction(self, create: bool = False) -> Iterator[sqlite3.Connection]:
        if not create and not self.path.exists():
            raise FileNotFoundError(
                f"the ledger's file {self.path} is gone; a ledger without a path ends with the "
                "process that made it: give it a path to keep it"
            )
        db = sqlite3.connect(self.path, timeout=60, isolation_level=None)
        try:
            db.execute("BEGIN IMMEDIATE")  # no other process reads or writes until we are done
            yield db
            db.execute("COMMIT")
        finally:
            db.close()  # rolls back what was not committed

    # A copy of a budget is the same budget: scikit-learn's clone and worker processes must not
    # multiply it.
    def __copy__(self) -> "Ledger":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Ledger":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (_reopen, (self.path, self.epsilon, self.delta))

    def __repr__(self) -> str:
        return f"Ledger(epsilon={self.epsilon:g}, delta={self.delta:g}, path={str(self.path)!r})"


def _remaining(
    budget: tuple[float, float], rows: list[tuple[str, str, str]]
) -> tuple[Decimal, Decimal]:
    spent = [sum((Decimal(row[i]) for row in rows), Decimal(0)) for i in (0, 1)]
    return Decimal(repr(budget[0])) - spent[0], Decimal(repr(budget[1])) - spent[1]


def _reopen(path: Path, epsilon: float, delta: float) -> Ledger:
    # Unpickling must not fail, or a saved model could not be read once its ledger is gone; and it
    # must not make a fresh budget: the missing file is reported at the next charge.
    ledger = object.__new__(Ledger)
    ledger.path, ledger.epsilon, ledger.delta = path, epsilon, delta
    return ledger


def _remove_if_owner(folder: str, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)

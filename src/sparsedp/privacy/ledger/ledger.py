"""A privacy budget that several fits draw from, also from several processes."""

import atexit
import json
import math
import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from sparsedp.privacy.ledger.chain import Line, encoded
from sparsedp.privacy.ledger.entries import (
    Charge,
    Remaining,
    charges_of,
    declared_name,
    planned_epsilon,
)
from sparsedp.privacy.ledger.errors import LedgerError, LedgerGone
from sparsedp.privacy.ledger.head import Receipt, head_path, missing, read_head, write_head
from sparsedp.privacy.ledger.refusals import (
    check_asked,
    check_cost,
    check_kind,
    check_same,
    overspent,
)
from sparsedp.privacy.ledger.rules import Rule, UnionRule
from sparsedp.privacy.ledger.sides import check_side
from sparsedp.privacy.ledger.state import WEIGHTS, State, first_line, plain
from sparsedp.privacy.ledger.store import Store, append, note_fingerprint
from sparsedp.privacy.ledger.sums import text_of
from sparsedp.privacy.neighbors import Neighbors
from sparsedp.privacy.plain import Parsed


class Ledger:
    """A budget (epsilon, delta) for everything that is ever released about one set of records.

    Parameters
    ----------
    epsilon, delta : float
        The whole budget. May be left out to open an existing ledger at ``path``.
    path : str or Path, optional
        Where the ledger is kept (SQLite). Without it the ledger lives as long as this process;
        worker processes that receive it draw from the same budget all the same.
    rule : {"sum", "union"}, optional
        How charges are counted; fixed for good when the ledger is made. "sum" (the default of a
        new ledger) adds epsilons and deltas. "union" admits a charge as long as that sum, with
        half of delta, or the sum of the Renyi divergences of all releases is within the budget:
        many more small fits, none of whose costs can be stated as an epsilon of its own.
    unit : {"record", "person"}, optional
        Whom the guarantee protects; by default "record".
    neighbors : {"add_remove", "replace_one"}, optional
        The relation of all charges; by default the first charge decides.
    who, data : str, optional
        Declared names, written into the lines of charges through this object: who releases, and
        of which data set. By default what the environment variable SPARSEDP_WHO says, and nothing.
    finish_later : bool, default=False
        True if whoever stores the models calls :meth:`finish`; else a fit does as soon as it has
        a model.

    Notes
    -----
    *Privacy.* Both rules hold also when later fits depend on earlier results (ledger.md). A charge
    is on the disk before any noise is drawn, written in a transaction that excludes other
    processes; one that would overspend is refused. Budget and charges are read from the file each
    time. Sums are exact in the decimal digits that were given, so ten fits of 0.1 fit into 1. All
    charges hold for the same unit and neighbor relation. Each line carries a hash of all before
    it, which goes into the record of the model: edited, deleted and rolled-back lines are found.

    Examples
    --------
    >>> ledger = Ledger(epsilon=1.0, delta=1e-6)
    >>> receipt = ledger.charge(0.1, 1e-7, what="a count")
    >>> ledger.remaining()
    Remaining(epsilon=0.9, delta=9e-07)
    """

    def __init__(
        self,
        epsilon: float | None = None,
        delta: float | None = None,
        path: str | os.PathLike[str] | None = None,
        rule: Rule | None = None,
        *,
        unit: str | None = None,
        neighbors: Neighbors | None = None,
        who: str | None = None,
        data: str | None = None,
        finish_later: bool = False,
    ) -> None:
        self.finish_later = finish_later
        self.who, self.data = declared_name("who", who), declared_name("data", data)
        if path is None:
            folder = tempfile.mkdtemp(prefix="sparsedp-ledger-")
            atexit.register(_remove_if_owner, folder, os.getpid())
            self._store = Store(Path(folder) / "ledger.sqlite", durable=False)
        else:
            self._store = Store(Path(os.path.realpath(path)))
        self._id: str | None = None
        if not self.path.exists():
            if path is not None and epsilon is None and delta is None:
                raise LedgerGone(
                    f"there is no ledger at {self.path}; a new one needs its whole budget, e.g. "
                    "Ledger(epsilon=3.0, delta=1e-5, path=...)"
                )
            if epsilon is None or not 0 < epsilon < math.inf:
                raise ValueError(f"a ledger needs a positive, finite epsilon, got {epsilon!r}")
            if delta is None or not 0 <= delta < 1:
                raise ValueError(f"a ledger needs a delta in [0, 1), got {delta!r}")
            self._create(float(epsilon), float(delta), rule or "sum", unit or "record", neighbors)
        state = self._state()
        self._id, (self.epsilon, self.delta) = state.id, state.budget
        asked = {"epsilon": epsilon, "delta": delta}
        asked |= {"rule": rule, "unit": unit, "neighbors": neighbors}
        check_asked(self.path, state, asked)

    @property
    def path(self) -> Path:
        """The ledger's file."""
        return self._store.path

    def charge(
        self,
        epsilon: float,
        delta: float,
        *,
        neighbors: Neighbors = "add_remove",
        what: str = "",
        events: list[Parsed] | None = None,
        seeded: bool | None = None,
        unit: str = "record",
        who: str | None = None,
        data: str | None = None,
        digest: bytes | None = None,
    ) -> Receipt:
        """Write a charge, or refuse it with :class:`BudgetExceeded`.

        Parameters
        ----------
        epsilon, delta : float
            What the release costs.
        neighbors, unit : str
            The relation and the unit that this cost holds for.
        what : str
            What is released.
        events : list of dict, optional
            The releases, as a record lists them. Under rule "union" they are what is counted.
        seeded : bool, optional
            Whether the noise comes from a seed.
        who, data : str, optional
            Declared names, by default those of the ledger object.
        digest : bytes, optional
            Of the private records. Only a keyed fingerprint of it is kept, in the ledger's file,
            and nothing that is published depends on it.

        Returns
        -------
        Receipt
            For the record of the model, and for :meth:`finish`.
        """
        asked = self._asked(epsilon, delta, neighbors, unit, events, (what, who, data), seeded)
        seen = self._seen()
        with self._store.transaction(write=True) as db:
            state = State.of(self.path, self._store.lines(db), seen)
            line = self._admitted(state, epsilon, delta, asked)
            append(db, line)
            if digest is not None:
                note_fingerprint(db, line, state.first["key"], digest)
        return self._noted(Receipt(state.id, line.line, line.hash))

    def check(
        self,
        epsilon: float,
        delta: float,
        *,
        neighbors: Neighbors = "add_remove",
        what: str = "",
        events: list[Parsed] | None = None,
        unit: str = "record",
    ) -> None:
        """Raise whatever `charge` would raise now, and charge nothing: where two are to be paid."""
        asked = self._asked(epsilon, delta, neighbors, unit, events, (what, None, None), None)
        self._admitted(self._state(), epsilon, delta, asked)

    def finish(self, receipt: Receipt, fingerprint: str) -> Receipt:
        """Note that the model of a charge exists; costs nothing.

        Parameters
        ----------
        receipt : Receipt
            What :meth:`charge` returned.
        fingerprint : str
            Of the released model; see `models`.

        Raises
        ------
        LedgerError
            For a receipt of another ledger, and for a second model: a charge pays for one.
        """
        seen = self._seen()
        with self._store.transaction(write=True) as db:
            state = State.of(self.path, self._store.lines(db), seen)
            why = missing(state.lines, state.id, receipt)
            if why is None and state.lines[receipt.line].kind != "charge":
                why = f"names line {receipt.line}, which is no charge"
            if why is not None:
                raise LedgerError(f"the receipt does not fit the ledger {self.path}: it {why}")
            details = {"charge": receipt.line, "model": str(fingerprint)}
            if encoded(details) in {line.details for line in state.lines if line.kind == "model"}:
                return state.receipt
            if state.files().get(receipt.line) and not str(fingerprint).startswith(WEIGHTS):
                raise LedgerError(
                    f"the ledger {self.path} knows another model of line {receipt.line}: a charge "
                    "pays for one"
                )
            line = state.next_line("model", details)
            append(db, line)
        return self._noted(Receipt(state.id, line.line, line.hash))

    def remaining(self) -> Remaining:
        """What is left of the budget, as far as the sum is concerned."""
        left = self._state().left()
        return Remaining(float(left[0]), float(left[1]))

    def used(self) -> float:
        """Part of the budget that is used, from 0 to 1; not an epsilon."""
        state = self._state()
        return state.rule.used(state.spent)

    def history(self) -> list[Charge]:
        """All charges, oldest first."""
        seen = self._seen()
        with self._store.transaction(write=False) as db:
            lines = self._store.lines(db)
            fingerprints = dict(db.execute("SELECT line, fingerprint FROM fingerprints"))
        state = State.of(self.path, lines, seen)
        return charges_of(state, fingerprints)

    def models(self) -> dict[int, set[str]]:
        """SHA-256 of the model files that came of each charge, by its line.

        Fits in Python make no file: what is noted of them (`WEIGHTS`) is not listed.
        """
        return self._state().files()

    def pending(self) -> list[Charge]:
        """Charges of which no model has come: the fit failed, was killed, or is still running."""
        return [charge for charge in self.history() if charge.pending]

    def verify(self, receipts: Iterable[Receipt] = ()) -> Receipt:
        """Check the whole ledger, and that it knows these receipts.

        Parameters
        ----------
        receipts : iterable of Receipt
            Of charges, as published models carry them. An old copy of the file is consistent in
            itself; only what was written down elsewhere shows that it is old.

        Returns
        -------
        Receipt
            Of the last line.

        Raises
        ------
        LedgerError
            With the first thing that is wrong.
        """
        state = self._state()
        if not state.rule.admits(state.spent):
            raise LedgerError(f"the ledger {self.path} holds more charges than its budget allows")
        for receipt in receipts:
            why = missing(state.lines, state.id, receipt)
            if why is not None:
                raise LedgerError(
                    f"the ledger {self.path} does not fit a model that was charged to it: the "
                    f"model {why}"
                )
        return state.receipt

    def planned_total(self) -> float:
        """Epsilon of all charges at the ledger's delta, if they had been planned beforehand.

        Returns
        -------
        float
            At most the sum of the epsilons, far less for many small ones. What the ledger
            enforces is its rule.

        Notes
        -----
        *Privacy.* The best bound that holds for all (epsilon, delta) mechanisms (Kairouz, Oh and
        Viswanath 2015). It holds if the number of charges and their sizes were decided before
        the first result was seen, as in a grid search; which models are fitted may depend on
        earlier results. For sizes chosen along the way only the ledger's rule holds.
        """
        return planned_epsilon(self.history(), self._state().budget[1])

    @property
    def terms(self) -> Parsed:
        """Rule, unit, relation and identity, as the file states them."""
        state = self._state()
        first = state.first
        numbers = first["numbers"] if isinstance(state.rule, UnionRule) else {}
        return {
            "id": state.id,
            "rule": first["rule"],
            **numbers,
            "unit": first["unit"],
            "neighbors": state.neighbors,
        }

    def _create(
        self, epsilon: float, delta: float, rule: Rule, unit: str, neighbors: str | None
    ) -> None:
        if self._store.durable and read_head(self.path) is not None:
            raise LedgerError(
                f"{head_path(self.path)} says that a ledger was here, and it is gone: put it back. "
                "Remove that note only if nothing charged to it was ever shown to anybody"
            )
        first = first_line(epsilon, delta, rule, unit, neighbors)
        if self._store.create(first):
            self._noted(Receipt(first.read()["id"], 0, first.hash))

    def _asked(
        self,
        epsilon: float,
        delta: float,
        neighbors: Neighbors,
        unit: str,
        events: list[Parsed] | None,
        names: tuple[str, str | None, str | None],
        seeded: bool | None,
    ) -> Parsed:
        """What a charge says beside its cost."""
        check_cost(epsilon, delta, neighbors, unit)
        releases = [] if math.isinf(epsilon) else json.loads(plain(events or []))
        details = self._declared(*names)
        details |= {"neighbors": neighbors, "unit": unit, "events": releases}
        details["seeded"] = None if seeded is None else bool(seeded)
        return details

    def _admitted(self, state: State, epsilon: float, delta: float, asked: Parsed) -> Line:
        """The line of a charge, if the ledger is of its kind and can pay."""
        check_same(state, self._id)
        check_kind(state, asked["neighbors"], asked["unit"])
        check_side(state, asked["what"])
        if math.isinf(epsilon):
            raise overspent(state, epsilon, delta)
        cost = text_of(epsilon), text_of(delta)
        counted = asked["events"], asked["neighbors"]
        filtered = state.filtered(float(epsilon), float(delta), *counted)
        line = state.next_line("charge", asked, cost, filtered)
        if not state.admits(line):
            raise overspent(state, epsilon, delta)
        return line

    def _declared(self, what: str, who: str | None, data: str | None) -> Parsed:
        """Names as they were declared, here or for this object; never made up."""
        return {
            "what": declared_name("what", what) or "",
            "who": declared_name("who", who or self.who or os.environ.get("SPARSEDP_WHO")),
            "data": declared_name("data", data or self.data),
        }

    def _state(self) -> State:
        seen = self._seen()  # before the lines: the note is never ahead of what is on the disk
        with self._store.transaction(write=False) as db:
            lines = self._store.lines(db)
        return State.of(self.path, lines, seen)

    def _seen(self) -> Receipt | None:
        return read_head(self.path) if self._store.durable else None

    def _noted(self, receipt: Receipt) -> Receipt:
        if self._store.durable:
            write_head(self.path, receipt)
        return receipt

    # A copy of a budget is the same budget: scikit-learn's clone and worker processes must not
    # multiply it.
    def __copy__(self) -> "Ledger":
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> "Ledger":
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return (_reopen, (vars(self),))

    def __repr__(self) -> str:
        return f"Ledger(epsilon={self.epsilon:g}, delta={self.delta:g}, path={str(self.path)!r})"


def _reopen(
    fields: Parsed | Path, epsilon: float | None = None, delta: float | None = None
) -> Ledger:
    # Unpickling must not fail, or a saved model could not be read once its ledger is gone; and it
    # must not make a fresh budget: the missing file is reported at the next charge.
    if not isinstance(fields, dict):  # as version 0.1 pickled
        kept = {"_store": Store(Path(fields)), "_id": None, "epsilon": epsilon, "delta": delta}
        fields = {**kept, "who": None, "data": None, "finish_later": False}
    ledger = object.__new__(Ledger)
    vars(ledger).update(fields)
    return ledger


def _remove_if_owner(folder: str, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)

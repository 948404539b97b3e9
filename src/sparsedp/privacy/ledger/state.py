"""A ledger as its file says it is, checked from the first line to the last."""

import contextlib
import json
import secrets
import time
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from sparsedp.privacy.ledger import divergence
from sparsedp.privacy.ledger.chain import START, Line, broken_at, encoded, linked
from sparsedp.privacy.ledger.errors import LedgerError, damaged
from sparsedp.privacy.ledger.head import Receipt, missing
from sparsedp.privacy.ledger.rules import (
    RULES,
    Rule,
    Spent,
    SumRule,
    UnionRule,
    rule_of,
    stated,
)
from sparsedp.privacy.ledger.sums import exact, text_of
from sparsedp.privacy.neighbors import NEIGHBORS, Neighbors
from sparsedp.privacy.plain import Parsed

FIELDS = {
    "budget": {"id", "key", "rule", "numbers", "unit", "neighbors"},
    "charge": {"neighbors", "unit", "what", "events", "seeded", "who", "data"},
    "model": {"charge", "model"},
}
"""What the details of a line hold, by its kind."""

UNITS = ("record", "person")
"""What the guarantee protects. Charges for one never share a ledger with charges for the other."""


WEIGHTS = "weights "
"""Before the fingerprint of a model that was not yet a file when its charge was finished."""


def first_line(epsilon: float, delta: float, rule: Rule, unit: str, neighbors: str | None) -> Line:
    """The line that fixes the budget, its rule, its unit and, if given, its relation."""
    if rule not in RULES:
        raise ValueError(f"rule must be one of {RULES}, got {rule!r}")
    if unit not in UNITS:
        raise ValueError(f"unit must be one of {UNITS}, got {unit!r}")
    if neighbors is not None and neighbors not in NEIGHBORS:
        raise ValueError(f"neighbors must be one of {NEIGHBORS}, got {neighbors!r}")
    texts = text_of(epsilon), text_of(delta)
    kept = UnionRule.of(epsilon, delta) if rule == "union" else SumRule(*texts)
    details = {
        "id": secrets.token_hex(16),
        "key": secrets.token_hex(32),  # of fingerprints; also keeps published heads unguessable
        "rule": rule,
        "numbers": stated(kept),
        "unit": unit,
        "neighbors": neighbors,
    }
    return linked(START, Line(0, "budget", now(), *texts, None, None, encoded(details), ""))


def now() -> str:
    """The time as ledgers write it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


@dataclass(frozen=True)
class State:
    """All lines and what follows from them."""

    path: Path
    lines: tuple[Line, ...]
    first: Parsed
    rule: SumRule | UnionRule
    spent: Spent

    @classmethod
    def of(cls, path: Path, lines: list[Line], seen: Receipt | None) -> "State":
        """Check every line, and that the ledger is not older than the note beside it."""
        if not lines:
            raise damaged(path, "it has no budget")
        broken = broken_at(lines)
        if broken is not None:
            raise damaged(path, f"line {broken} does not follow from those before it")
        try:
            first = lines[0].read()
            if set(first) != FIELDS["budget"] or not _as_written("budget", first):
                raise ValueError("not the first line of a ledger")
            rule = rule_of(first["rule"], lines[0].epsilon, lines[0].delta, first["numbers"])
            spent = Spent.of(lines)
        except (ValueError, TypeError, KeyError, RecursionError):
            raise damaged(path, "it holds what sparsedp does not write") from None
        state = cls(path, tuple(lines), first, rule, spent)
        if seen is not None:
            why = missing(lines, state.id, seen)
            if why is not None:
                raise LedgerError(
                    f"the ledger {path} is not the one that was here: {path.name}.head {why}. An "
                    "old copy was put back, or lines were removed; nothing is charged to it. Put "
                    f"the latest file back; remove {path.name}.head only if no model of the "
                    "missing lines was ever shown to anybody"
                )
        return state

    @property
    def id(self) -> str:
        """Random name of this ledger."""
        return self.first["id"]

    @property
    def receipt(self) -> Receipt:
        """Of the last line."""
        return Receipt(self.id, len(self.lines) - 1, self.lines[-1].hash)

    @property
    def neighbors(self) -> str | None:
        """The relation of all charges; None while nothing has fixed it."""
        if self.first["neighbors"] is not None:
            return self.first["neighbors"]
        charges = (line for line in self.lines if line.kind == "charge")
        return next((self.read(line)["neighbors"] for line in charges), None)

    def read(self, line: Line) -> Parsed:
        """The details of a line; most are never asked for, so they are not read beforehand."""
        with contextlib.suppress(ValueError, RecursionError):
            details = line.read()
            if FIELDS[line.kind] <= set(details) and _as_written(line.kind, details):
                return details
        raise damaged(self.path, f"line {line.line} holds what sparsedp does not write")

    @property
    def budget(self) -> tuple[float, float]:
        """Epsilon and delta of the whole budget."""
        return float(self.lines[0].epsilon), float(self.lines[0].delta)

    def left(self) -> tuple[Fraction, Fraction]:
        """What the sum leaves, never below zero."""
        limit = self.rule.delta_sum if isinstance(self.rule, UnionRule) else self.rule.delta
        epsilon = exact(self.rule.epsilon) - self.spent.epsilon
        return max(epsilon, Fraction(0)), max(exact(limit) - self.spent.delta, Fraction(0))

    def finished(self) -> set[int]:
        """Lines of charges whose model exists, or of which version 0.1 kept no account."""
        models = {self.read(line)["charge"] for line in self.lines if line.kind == "model"}
        return models | {n for n, details in self.charges() if details.get("upgraded")}

    def files(self) -> dict[int, set[str]]:
        """Fingerprints of model files, by the line of their charge."""
        found: dict[int, set[str]] = {}
        for line in self.lines:
            if line.kind == "model":
                details = self.read(line)
                if not details["model"].startswith(WEIGHTS):
                    found.setdefault(details["charge"], set()).add(details["model"])
        return found

    def charges(self) -> list[tuple[int, Parsed]]:
        """Line number and details of every charge."""
        return [(line.line, self.read(line)) for line in self.lines if line.kind == "charge"]

    def next_line(
        self,
        kind: str,
        details: Parsed,
        cost: tuple[str, str] = ("0.0", "0.0"),
        filtered: tuple[str | None, str | None] = (None, None),
        when: str | None = None,
    ) -> Line:
        """A line that follows the last one."""
        line = Line(len(self.lines), kind, when or now(), *cost, *filtered, encoded(details), "")
        return linked(self.lines[-1].hash, line)

    def admits(self, line: Line) -> bool:
        """Whether the budget covers one charge more."""
        one = Spent.of([line])
        both = (self.spent.divergence, one.divergence)
        together = replace(
            self.spent,
            epsilon=self.spent.epsilon + one.epsilon,
            delta=self.spent.delta + one.delta,
            divergence=None if None in both else sum(filter(None, both), Fraction(0)),
            leak=self.spent.leak + one.leak,
        )
        return self.rule.admits(together)

    def filtered(
        self, epsilon: float, delta: float, events: list[Parsed], neighbors: Neighbors
    ) -> tuple[str | None, str | None]:
        """What a charge costs under rule "union": its releases, or a black box if that is less."""
        if isinstance(self.rule, SumRule):
            return None, None
        rule, alpha = self.rule, float(self.rule.alpha)
        limits = float(rule.divergence), float(rule.leaks)
        costs = [divergence.black_box(epsilon, delta, alpha)]
        by_events = divergence.of_events(events, alpha, neighbors)
        if by_events is not None:
            costs.append(by_events)
        found = min(costs, key=lambda c: max(c.divergence / limits[0], c.leak / limits[1]))
        infinite = not found.divergence < float("inf")
        return "inf" if infinite else text_of(found.divergence), text_of(found.leak)


def _as_written(kind: str, details: Parsed) -> bool:
    """Whether the details of a line are of the types that ledgers write."""
    if kind == "model":
        return type(details["charge"]) is int and isinstance(details["model"], str)
    if details["unit"] not in UNITS:
        return False
    if kind == "budget":
        texts = isinstance(details["id"], str) and isinstance(details["key"], str)
        return texts and details["neighbors"] in (None, *NEIGHBORS)
    return (
        details["neighbors"] in NEIGHBORS
        and isinstance(details["what"], str)
        and isinstance(details["events"], list)
        and type(details["seeded"]) in (bool, type(None))
        and all(isinstance(details[name], str | None) for name in ("who", "data"))
    )


def plain(value: object) -> str:
    """Events as text that a ledger can hold, or ValueError."""
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        raise ValueError("events must be plain data: numbers, texts, lists and dicts") from None

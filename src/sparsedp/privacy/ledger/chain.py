"""Lines of a ledger, each tied to all before it by a hash."""

import hashlib
import json
from collections.abc import Sequence
from typing import NamedTuple

from sparsedp.privacy.plain import Parsed

START = hashlib.sha256(b"sparsedp ledger 2").hexdigest()
"""Stands before the first line."""

_ENCODER = json.JSONEncoder(separators=(",", ":"))

KINDS = ("budget", "charge", "model")
"""Line 0 is the budget; a model line says that the model of an earlier charge exists."""


class Line(NamedTuple):
    """One line as it is stored. Numbers are texts (`sums.text_of`), details are JSON."""

    line: int
    kind: str
    time: str
    epsilon: str
    delta: str
    divergence: str | None
    leak: str | None
    details: str
    hash: str

    def read(self) -> Parsed:
        """The details as data; ValueError if they are not."""
        details = json.loads(self.details)
        if not isinstance(details, dict):
            raise ValueError("details are not a JSON object")
        return details


def encoded(details: Parsed) -> str:
    """Details as ASCII text, one way of writing for one content."""
    return json.dumps(details, sort_keys=True, separators=(",", ":"), allow_nan=False)


def hash_of(before: str, line: Line) -> str:
    """Hash of a line and, through the hash before it, of all earlier ones.

    A JSON list of strings, numbers and nulls is written in one way only, and no two lists alike.
    """
    content = _ENCODER.encode([before, *line[:-1]])
    return hashlib.sha256(content.encode("ascii")).hexdigest()


def linked(before: str, line: Line) -> Line:
    """The line with its hash."""
    return line._replace(hash=hash_of(before, line))


def broken_at(lines: Sequence[Line]) -> int | None:
    """Number of the first line that does not follow from those before it; None if all do."""
    before = START
    for number, line in enumerate(lines):
        if line.line != number or (line.kind == "budget") != (number == 0):
            return number
        if hash_of(before, line) != line.hash:
            return number
        before = line.hash
    return None

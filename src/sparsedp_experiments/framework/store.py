"""The CSV of an experiment: a row per finished trial, appended at once, never lost."""

import csv
import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Trial = dict[str, Any]
ADMINISTRATION = ("settings", "seed", "seconds", "code")
"""Columns beside those of the trial and its results: digest of the settings, seed, running time,
digest of the library's source (origin.json has its commit; old rows have none)."""


@dataclass
class Store:
    """Rows of one experiment under one version of its settings.

    Rows of other versions stay in the file and are not looked at: a quick run into the same folder
    costs nobody the results of a full one.
    """

    path: Path
    digest: str

    def rows(self) -> list[dict[str, Any]]:
        """All rows of this version, values as numbers where they are."""
        return [_typed(row) for row in self.texts()]

    def texts(self) -> list[dict[str, str]]:
        """The same rows, in the same order, as they stand in the file."""
        return [row for row in self._all() if row["settings"] == self.digest]

    def open(self, columns: list[str]) -> None:
        """Make sure that the file has these columns, in case the script changed."""
        rows = self._all()
        header = [*columns, *ADMINISTRATION]
        extra = [name for row in rows for name in row if name not in header]
        self.header = [*header, *dict.fromkeys(extra)]
        buffer = io.StringIO()
        writer = csv.DictWriter(buffer, self.header, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # A new file in one move: a run that is stopped here leaves the old one.
        draft = self.path.with_suffix(".part")
        draft.write_text(buffer.getvalue(), encoding="utf-8")
        os.replace(draft, self.path)

    def append(self, row: dict[str, Any]) -> None:
        """Write one row, in one piece."""
        buffer = io.StringIO()
        csv.DictWriter(buffer, self.header, restval="", lineterminator="\n").writerow(
            {**row, "settings": self.digest}
        )
        with self.path.open("a", encoding="utf-8") as file:
            file.write(buffer.getvalue())

    def _all(self) -> list[dict[str, str]]:
        if not self.path.exists():
            return []
        with self.path.open(newline="", encoding="utf-8") as file:
            # A run that died while writing leaves a short last row: that trial is run again.
            return [row for row in csv.DictReader(file) if None not in row.values()]


def identity(trial: Trial) -> tuple[tuple[str, str], ...]:
    """What tells a trial from others, the same before and after it was in a CSV."""
    pairs = ((name, _text(value)) for name, value in trial.items())
    return tuple(sorted((name, text) for name, text in pairs if text != ""))


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _typed(row: dict[str, str]) -> dict[str, Any]:
    return {name: _number(text) for name, text in row.items() if text != ""}


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text

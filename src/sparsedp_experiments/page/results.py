"""The rows of a full run, as the page reads them."""

import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from sparsedp_experiments.framework import origin, registry
from sparsedp_experiments.framework.store import Store, identity

Row = dict[str, Any]


@dataclass(frozen=True)
class Results:
    """All experiments of a run; every row has the settings of this version, and one code."""

    rows: dict[str, list[Row]]
    settings: dict[str, dict[str, Any]]
    code: str
    commit: str
    versions: dict[str, str]

    def where(self, key: str, **wanted: Any) -> list[Row]:
        """Rows of an experiment with these values; None for a column that they do not have."""
        found = [
            row
            for row in self.rows[key]
            if all(row.get(name) == value for name, value in wanted.items())
        ]
        if not found:
            raise ValueError(f"{key} has no row with {wanted}")
        return found

    def mean(self, key: str, column: str, **wanted: Any) -> float:
        """Mean of a column over the rows that fit."""
        return float(np.mean([row[column] for row in self.where(key, **wanted)]))

    @property
    def n_rows(self) -> int:
        """Trials in all."""
        return sum(map(len, self.rows.values()))

    @property
    def seconds(self) -> float:
        """Time of all trials together, each in one process."""
        return sum(row["seconds"] for rows in self.rows.values() for row in rows)


@contextmanager
def unpacked(archive: Path) -> Iterator[Path]:
    """The folder of results in an archive."""
    with TemporaryDirectory() as folder, tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
        yield Path(folder) / "reproduction"


def read(folder: Path) -> Results:
    """All rows below a folder; raises if trials are missing or of several versions of the code."""
    rows, settings, codes = {}, {}, set()
    for experiment in registry.all_experiments():
        of = experiment.settings()
        settings[experiment.key] = of.merged
        wanted = experiment.module().trials(of.merged)
        if not wanted:
            continue
        path = folder / experiment.paper / experiment.name / "trials.csv"
        keys = list(dict.fromkeys(name for trial in wanted for name in trial))
        found = {
            identity({name: row[name] for name in keys if name in row}): row
            for row in Store(path, of.digest).rows()
        }
        missing = [trial for trial in wanted if identity(trial) not in found]
        if missing:
            raise ValueError(f"{path} lacks {len(missing)} trials, such as {missing[0]}")
        rows[experiment.key] = [found[identity(trial)] for trial in wanted]
        codes |= {row["code"] for row in rows[experiment.key]}
    if len(codes) != 1:
        raise ValueError(f"results of several versions of the code: {sorted(codes)}")
    code = codes.pop()
    known = origin.known(folder)[code]
    return Results(rows, settings, code, known["commit"], known)

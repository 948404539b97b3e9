"""Run some rows of stored results again and compare them bit by bit."""

import csv
import io
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from sparsedp_experiments.framework import runner
from sparsedp_experiments.framework.registry import ROOT, Experiment
from sparsedp_experiments.framework.store import Store, Trial, identity

STORED = ROOT.parents[1] / "docs" / "reproduction" / "results.tar.xz"
"""The results that a clone of the repository has."""


@dataclass(frozen=True)
class Checked:
    """What came of the rows of one experiment; those that a run has not finished are lacking."""

    n_rows: int
    n_lacking: int
    n_again: int
    different: tuple[str, ...]
    missing: tuple[str, ...]
    codes: frozenset[str]


@contextmanager
def stored_results(output: Path | None) -> Iterator[Path]:
    """The folder of results: one that is named, or that of the archive in a clone."""
    if output is not None:
        yield output
        return
    if not STORED.exists():
        raise ValueError(
            "there are no stored results to compare with: name the folder of a run by --output"
        )
    with TemporaryDirectory() as folder, tarfile.open(STORED) as archive:
        archive.extractall(folder, filter="data")
        yield Path(folder) / "reproduction"


def check(experiment: Experiment, run: runner.Run, share: float, rng: Any) -> Checked:
    """Run a random part of the stored rows again; ``run.output`` is where they are stored."""
    settings, module = experiment.settings(run.size), experiment.module()
    wanted = module.trials(settings.merged)
    if not wanted:
        return Checked(0, 0, 0, (), (), frozenset())
    keys = list(dict.fromkeys(name for trial in wanted for name in trial))
    store = Store(run.folder(experiment) / "trials.csv", settings.digest)
    stored = {
        identity({name: row[name] for name in keys if name in row}): text
        for row, text in zip(store.rows(), store.texts(), strict=True)
    }
    known = [trial for trial in wanted if identity(trial) in stored]
    if not known:
        raise ValueError(f"{experiment.key}: no stored row has the settings of this version")
    count = max(1, round(share * len(known)))
    places = np.sort(rng.choice(len(known), count, replace=False))
    different, missing = [], set()
    for outcome in runner.outcomes(experiment, settings, [known[i] for i in places], run):
        if outcome.result is None:
            missing.add(outcome.missing[0] if outcome.missing else "")
            continue
        row = stored[identity(outcome.trial)]
        found = {**outcome.result, "seed": outcome.seed}
        wrong = [name for name, value in found.items() if row[name] != written(value)]
        if wrong:
            different.append(f"{named(outcome.trial)}: {', '.join(wrong)}")
    codes = frozenset(stored[identity(known[i])]["code"] for i in places)
    lacking = len(wanted) - len(known)
    return Checked(len(known), lacking, count, tuple(different), tuple(sorted(missing)), codes)


def written(value: Any) -> str:
    """As a CSV has it: floats to the last bit."""
    buffer = io.StringIO()
    csv.writer(buffer).writerow([value])
    return next(csv.reader([buffer.getvalue()]))[0]


def named(trial: Trial) -> str:
    """A row by what it is."""
    return " ".join(f"{name}={value}" for name, value in trial.items())

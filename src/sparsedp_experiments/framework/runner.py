"""Run an experiment: missing trials in worker processes, then the summary and the figures."""

import hashlib
import multiprocessing
import signal
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from sparsedp_experiments.framework import origin
from sparsedp_experiments.framework.data import Data, DataMissing
from sparsedp_experiments.framework.progress import progress_bar
from sparsedp_experiments.framework.registry import Experiment, Settings, load
from sparsedp_experiments.framework.store import Store, Trial, identity

LEFT_OUT = "Left out, as the data are not there"


@dataclass(frozen=True)
class Run:
    """How experiments are to be run."""

    output: Path
    data: Data
    size: str = "full"
    jobs: int = 1

    def folder(self, experiment: Experiment) -> Path:
        """Where the results of an experiment go."""
        return self.output / experiment.paper / experiment.name


@dataclass(frozen=True)
class Outcome:
    """One finished trial, or the data set that it lacks."""

    trial: Trial
    result: dict[str, Any] | None
    seed: str
    seconds: float
    missing: tuple[str, str] | None = None


def reproduce(experiment: Experiment, run: Run) -> Path:
    """Finish the trials, write summary and figures; return the folder."""
    used = [replace_name(experiment, name) for name in experiment.uses]
    rows: list[dict[str, Any]] = []
    absent: dict[str, str] = {}
    for part in (*used, experiment):
        found, missing = finish_trials(part, run)
        rows += found
        absent |= missing
    settings, module = experiment.settings(run.size), experiment.module()
    folder = run.folder(experiment)
    folder.mkdir(parents=True, exist_ok=True)
    text = [f"# {experiment.key}: {module.TITLE}\n"]
    if run.size != "full":
        text.append(f"A {run.size} run: reduced settings, see `{experiment.name}.toml`.\n")
    if absent:
        names = "; ".join(f"{name} ({reason})" for name, reason in sorted(absent.items()))
        text.append(f"{LEFT_OUT}: {names}.\n")
    versions = Counter(str(row.get("code", "before this was recorded")) for row in rows)
    if len(versions) > 1:
        parts = ", ".join(f"{count} by {code}" for code, count in versions.most_common())
        text.append(f"Trials were run by several versions of the library: {parts}.\n")
    if rows:
        text.append(module.summarize(rows, settings.merged).rstrip() + "\n")
        draw = getattr(module, "draw", None)
        if draw is not None:
            draw(rows, settings.merged, folder)
    (folder / "summary.md").write_text("\n".join(text), encoding="utf-8")
    return folder


def left_out(folder: Path) -> list[str]:
    """What the summary in this folder says about missing data."""
    lines = (folder / "summary.md").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.startswith(LEFT_OUT)]


def replace_name(experiment: Experiment, name: str) -> Experiment:
    """Another experiment of the same paper."""
    return replace(
        experiment, name=name, path=experiment.path.with_name(f"{name.replace('-', '_')}.py")
    )


def finish_trials(experiment: Experiment, run: Run) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Run what the CSV lacks; return the rows of all trials and the sets that were missing."""
    settings, module = experiment.settings(run.size), experiment.module()
    wanted = module.trials(settings.merged)
    if not wanted:
        return [], {}
    keys = list(dict.fromkeys(name for trial in wanted for name in trial))
    store = Store(run.folder(experiment) / "trials.csv", settings.digest)
    store.open([*keys, *module.COLUMNS])
    known = {_row_identity(row, keys) for row in store.rows()}
    missing = [trial for trial in wanted if identity(trial) not in known]
    absent: dict[str, str] = {}
    if missing:
        origin.note(run.output)
        run.data.prefetch({str(trial.get("set")) for trial in missing})
        with progress_bar(experiment.key, len(missing)) as bar:
            results = outcomes(experiment, settings, missing, run)
            for done, outcome in enumerate(results, 1):
                if outcome.result is not None:
                    _check_columns(module, outcome.result)
                    store.append(
                        {
                            **outcome.trial,
                            **outcome.result,
                            "seed": outcome.seed,
                            "seconds": round(outcome.seconds, 3),
                            "code": origin.code_version(),
                        }
                    )
                elif outcome.missing is not None:
                    absent[outcome.missing[0]] = outcome.missing[1]
                bar.step(done)
    # In the order of the trials, and not in that in which they were finished.
    places = {identity(trial): place for place, trial in enumerate(wanted)}
    found = [(_row_identity(row, keys), row) for row in store.rows()]
    found = [(places[key], row) for key, row in found if key in places]
    return [row for _, row in sorted(found, key=lambda pair: pair[0])], absent


def _row_identity(row: dict[str, Any], keys: list[str]) -> tuple[tuple[str, str], ...]:
    return identity({name: row[name] for name in keys if name in row})


def _check_columns(module: ModuleType, result: dict[str, Any]) -> None:
    if set(result) != set(module.COLUMNS):
        raise ValueError(f"a trial gave {sorted(result)}, but COLUMNS says {module.COLUMNS}")


def outcomes(
    experiment: Experiment, settings: Settings, trials: list[Trial], run: Run
) -> Iterator[Outcome]:
    """Run these trials, in worker processes if several are allowed; in no order then."""
    if run.jobs == 1:
        _start(run.data)
        for trial in trials:
            yield _one(experiment.path, settings, trial)
        return
    # Fresh interpreters: forked ones would inherit threads and, worse, any random state.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(run.jobs, context, _start_worker, (run.data,))
    try:
        # Few at a time, in order, so that workers are at the same data set.
        queue = iter(trials)
        pending = set()
        while True:
            for trial in queue:
                pending.add(pool.submit(_one, experiment.path, settings, trial))
                if len(pending) >= 2 * run.jobs:
                    break
            if not pending:
                return
            finished, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in finished:
                yield future.result()
    finally:
        for process in list((pool._processes or {}).values()):
            process.terminate()  # a stopped run does not wait for a long trial
        pool.shutdown(wait=False, cancel_futures=True)


_data: Data | None = None


def _start(data: Data) -> None:
    global _data
    _data = data


def _start_worker(data: Data) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent tells workers to stop
    _start(data)


def _one(path: Path, settings: Settings, trial: Trial) -> Outcome:
    """Run one trial in this process."""
    from threadpoolctl import threadpool_limits

    assert _data is not None
    _data.enter(trial.get("set"))
    seed = trial_seed(settings.seed, trial)
    start = time.perf_counter()
    try:
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")  # every fit would say that it is seeded or unproven
            result = load(path).run(trial, settings.merged, _data, seed)
    except DataMissing as error:
        return Outcome(trial, None, "", 0.0, (error.name, error.reason))
    took = time.perf_counter() - start
    return Outcome(trial, result, f"{settings.seed}:{trial_number(trial):d}", took)


def trial_seed(root: int, trial: Trial) -> np.random.SeedSequence:
    """The child of the root that belongs to a trial.

    ``SeedSequence.spawn`` numbers its children as they come; here the number is computed from
    what the trial is, so that it does not depend on order, interruptions or other trials.
    """
    return np.random.SeedSequence(root, spawn_key=(trial_number(trial),))


def trial_number(trial: Trial) -> int:
    """96 bits: no two trials of any experiment will share one."""
    text = repr(identity(trial)).encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:12])

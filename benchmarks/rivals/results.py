"""Fits that were written down, and what is counted of them."""

import csv
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from benchmarks.rivals.metrics import NAMES
from benchmarks.rivals.packaged import NUMBERS
from benchmarks.rivals.sets import REGRESSIONS, TEXT

EPSILONS = (0.1, 0.3, 1.0, 3.0, 8.0)
LEAST_R2 = -1.0  # below it, worse is not told apart
TASKS = {"auc": "AUC", "r2": "R²"}


@dataclass(frozen=True)
class Results:
    """Figures of fits, by set, method and epsilon, then by run."""

    fits: dict
    shapes: dict
    commits: dict
    failed: dict

    def methods(self):
        """All, in the order in which they were read."""
        return list(dict.fromkeys(method for _, method, _ in self.fits))

    def sets(self, task):
        """Of a task, with text last."""
        numbers = (*REGRESSIONS, *NUMBERS)
        names = [name for name in self.shapes if (name in numbers) == (task == "r2")]
        return sorted(names, key=lambda name: name in TEXT)

    def values(self, metric, name, method, epsilon):
        """By run; R2 clipped."""
        found = self.fits.get((name, method, epsilon), {})
        values = {run: fit[metric] for run, fit in found.items() if metric in fit}
        if metric == "r2":
            return {run: max(value, LEAST_R2) for run, value in values.items()}
        return values

    def mean(self, metric, name, method, epsilon):
        """Over runs; NaN where there are none."""
        values = list(self.values(metric, name, method, epsilon).values())
        return float(np.mean(values)) if values else np.nan


def read(paths):
    """Lines of several files; where a fit is there twice, the last one counts."""
    fits, shapes, commits, failed = defaultdict(dict), {}, defaultdict(set), defaultdict(set)
    for path in paths:
        with open(path, newline="") as file:
            for line in csv.DictReader(file):
                key = line["set"], line["method"], float(line["epsilon"])
                shapes[line["set"]] = int(line["n"]), int(line["d"])
                commits[line["method"]].add(line["commit"])
                figures = {name: float(line[name]) for name in (*NAMES, "seconds") if line[name]}
                if "auc" in figures or "r2" in figures:
                    fits[key][int(line["run"])] = figures
                else:
                    failed[line["method"]].add(line["set"])
    return Results(dict(fits), shapes, dict(commits), dict(failed))


@dataclass(frozen=True)
class Cell:
    """One set at one epsilon: ours less theirs, run by run on the same splits."""

    set: str
    epsilon: float
    ours: float
    theirs: float
    error: float

    @property
    def difference(self):
        """Positive where ours is better."""
        return self.ours - self.theirs

    @property
    def is_clear(self):
        """Beyond two standard errors; never by fewer than three runs."""
        return abs(self.difference) > 2 * self.error


def cells(results, metric, ours, theirs, names=None):
    """All that both have; text is not among them unless it is named."""
    chosen = names or [name for name in results.sets(metric) if name not in TEXT]
    found = []
    for name in chosen:
        for epsilon in EPSILONS:
            a = results.values(metric, name, ours, epsilon)
            b = results.values(metric, name, theirs, epsilon)
            both = sorted(a.keys() & b.keys())
            if not both:
                continue
            gaps = np.array([a[run] - b[run] for run in both])
            error = gaps.std(ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 2 else np.inf
            means = [float(np.mean([side[run] for run in both])) for side in (a, b)]
            found.append(Cell(name, epsilon, *means, float(error)))
    return found


def runs(results, method, epsilon, least_records=0):
    """Set and figures of every fit of a method at an epsilon, on tables of a size."""
    for (name, found, at), fits in results.fits.items():
        large = results.shapes[name][0] >= least_records
        if found == method and at == epsilon and large and name not in TEXT:
            for fit in fits.values():
                yield name, fit


def share(flags):
    """How many of how many."""
    flags = list(flags)
    return f"{sum(flags)} of {len(flags)}" if flags else "-"

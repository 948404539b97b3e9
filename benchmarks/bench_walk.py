"""Steps of private Frank-Wolfe, ours and others', in CPU time: parts of benchmarks/bench.py."""

import itertools
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from appendix_b import appendix_b
from peers import better_numpy, vertex_matrix
from reference import by_column
from scipy.sparse import csr_matrix
from shapes import Shape, generate

from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.losses import Logistic
from sparsedp.mechanisms import Answers, Curator, KeyStream, NoisyCurator
from sparsedp.privacy import Budget, PublicFacts
from sparsedp.solvers import FrankWolfe
from sparsedp.solvers.frank_wolfe.compact import compact_columns

N_STEPS = 1000
EPSILONS = (0.1, 1.0, 10.0)
NOISES = {"laplace": "published", "exponential": "sound"}
LISTINGS = {"appendix_b": appendix_b, "afrl_ri": vertex_matrix, "numpy": better_numpy}


@dataclass(frozen=True, eq=False)
class Records:
    """A data set with features in [-1, 1], and the radius it is fitted with."""

    name: str
    X: np.ndarray
    y: np.ndarray
    radius: float

    @property
    def n_entries(self) -> int:
        """Entries that are stored."""
        return self.X.size if isinstance(self.X, np.ndarray) else self.X.nnz

    @cached_property
    def data(self) -> Dataset:
        """What our solvers get."""
        return Dataset.clip(self.X, self.y, Bounds(-1, 1), intercept=False)

    @cached_property
    def columns(self):
        """The records by column, for those who want that."""
        return by_column(self.X)

    @cached_property
    def rows(self):
        """The records by row, with indices as old libraries want them."""
        if isinstance(self.X, np.ndarray):
            return self.X
        indices, indptr = self.X.indices.astype(np.int32), self.X.indptr.astype(np.int32)
        return csr_matrix((self.X.data, indices, indptr), self.X.shape)

    @cached_property
    def prepared(self) -> float:
        """CPU seconds until the first step: gate, compact copy, scores at weights zero."""
        start = time.process_time()
        compact_columns(self.data)
        for noise in NOISES:
            Fit(self, noise, "lazy", 0.1, 1).run(0)
        return time.process_time() - start


@dataclass
class Timed:
    """Answers that remember how long they took."""

    answers: Answers
    seconds: float = 0.0
    noiseless: bool = False

    def quick(self, walk):
        """As it is, timed."""
        start = time.process_time()
        quick = self.answers.quick(walk)
        self.seconds += time.process_time() - start
        return quick

    def answer(self, question, event, name):
        """As it is, timed."""
        start = time.process_time()
        answer = self.answers.answer(question, event, name)
        self.seconds += time.process_time() - start
        return answer


@dataclass(frozen=True, eq=False)
class Fit:
    """A private fit by ours; delta is 1/n, the radius that of the records unless given."""

    records: Records
    noise: str
    mode: str
    epsilon: float
    n_steps: int = N_STEPS
    radius: float | None = None

    @cached_property
    def solver(self) -> FrankWolfe:
        """With the noise of the paper, or with ours."""
        return FrankWolfe(
            radius=self.radius or self.records.radius,
            n_steps=self.n_steps,
            mode=self.mode,
            calibration=NOISES[self.noise],
        )

    def curator(self, seed: int) -> Curator:
        """The door, its budget calibrated."""
        data = self.records.data
        public = PublicFacts(
            n_features=data.n_features,
            n_nonzero=1,
            n_outputs=1,
            intercept=False,
            neighbors="add_remove",
            n_records=None,
        )
        budget = Budget(
            self.solver.schedule(public),
            epsilon=self.epsilon,
            delta=1 / data.n_records,
            neighbors="add_remove",
        )
        curator = NoisyCurator(budget, public, KeyStream.from_seed(seed))
        return replace(curator, answers=Timed(curator.answers))

    def run(self, seed: int) -> np.ndarray:
        """The weights."""
        return self.solver.solve(self.records.data, Logistic(), self.curator(seed)).weights

    def step_time(self, seeds, at_least: float) -> float:
        """CPU seconds per step of a whole fit."""
        return self.step_times(seeds, at_least)[0]

    def step_times(self, seeds, at_least: float) -> tuple[float, float]:
        """CPU seconds per step of a whole fit, and of its steps alone.

        Over so many seeds as it takes to spend some time.
        """
        spent, walking, n_fits = 0.0, 0.0, 0
        for seed in seeds:
            curator = self.curator(seed)
            start = time.process_time()
            self.solver.solve(self.records.data, Logistic(), curator)
            spent += time.process_time() - start
            walking += curator.answers.seconds
            n_fits += 1
            if spent >= at_least:
                break
        return spent / (n_fits * self.n_steps), walking / (n_fits * self.n_steps)


def listing_time(name, records, epsilon, n_run):
    """CPU seconds per step of somebody else's steps, over the first few."""
    X = records.columns if name == "numpy" else records.X
    rng = np.random.default_rng(0)
    start = time.process_time()
    LISTINGS[name](
        X,
        records.y,
        radius=records.radius,
        n_steps=N_STEPS,
        epsilon=epsilon,
        delta=1 / len(records.y),
        rng=rng,
        n_run=n_run,
    )
    return (time.process_time() - start) / n_run


def n_listing(records, seconds):
    """How many steps of appendix B take about so long."""
    step = listing_time("appendix_b", records, 1.0, 2)
    return int(np.clip(seconds / step, 3, 200))


def seeds_of(turn):
    """Seeds that no other turn uses."""
    return range(1000 * turn, 1000 * turn + 200)


def compare(records, turns, seconds):
    """Everybody on one set: a line for each epsilon."""
    prepared = records.prepared
    n_run = n_listing(records, seconds)
    # Computing all scores takes the same time in every step, so some steps are enough.
    n_full = min(N_STEPS, 2 * n_run)
    lines = []
    for epsilon in EPSILONS:
        fits = {}
        for noise, mode in itertools.product(NOISES, ("lazy", "auto", "full")):
            n_steps = n_full if mode == "full" else N_STEPS
            fits[f"{noise} {mode}"] = Fit(records, noise, mode, epsilon, n_steps)
        taken = {name: [] for name in (*LISTINGS, *fits)}
        for turn in range(turns):
            for name in LISTINGS:
                taken[name].append(listing_time(name, records, epsilon, n_run))
            for name, fit in fits.items():
                taken[name].append(fit.step_time(seeds_of(turn), seconds / 4))
        line = {"epsilon": epsilon, "n_run": n_run, "n_full": n_full, "prepared": prepared}
        line |= {name: 1e6 * statistics.median(times) for name, times in taken.items()}
        for noise in NOISES:
            w = fits[f"{noise} auto"].run(0)
            correct = (records.X @ w > 0) == (records.y > 0)
            line[f"{noise} accuracy"] = float(np.mean(correct))
        lines.append(facts(records) | line)
    return lines


def facts(records):
    """What describes a set."""
    n, d = records.X.shape
    return {
        "set": records.name,
        "n": n,
        "d": d,
        "entries": records.n_entries,
        "radius": records.radius,
    }


def scaling(base: Shape, axis: str, values, turns, seconds):
    """Time per step as one size of a text-like set grows, all sizes in turn."""
    sets = []
    for value in values:
        shape = Shape(**(vars(base) | {axis: value}))
        sets.append(Records(f"{axis} {value}", *generate(shape), base.radius))
    lines = []
    for records, value in zip(sets, values, strict=True):
        n_run = n_listing(records, seconds)
        line = {"axis": axis, "value": value, "prepared": records.prepared}
        line["appendix_b"] = 1e6 * listing_time("appendix_b", records, 1.0, n_run)
        line["full"] = 1e6 * Fit(records, "laplace", "full", 1.0, n_run).step_time((0,), seconds)
        lines.append(facts(records) | line)
    for noise, epsilon in itertools.product(NOISES, EPSILONS):
        times = [[] for _ in sets]
        for turn in range(turns):
            for records, found in zip(sets, times, strict=True):
                fit = Fit(records, noise, "auto", epsilon)
                found.append(fit.step_times(seeds_of(turn), seconds / 4))
        for line, found in zip(lines, times, strict=True):
            whole, walking = (1e6 * statistics.median(part) for part in zip(*found, strict=True))
            line[f"{noise} {epsilon:g}"] = whole
            line[f"{noise} {epsilon:g} walking"] = walking
    return lines


def choice(records, n_steps, radii, turns, seconds):
    """Whether the choice between lazy and full steps is a good one, in short fits."""
    lines = []
    for radius, noise, epsilon in itertools.product(radii, NOISES, EPSILONS):
        taken = {"lazy": [], "auto": [], "full": []}
        for turn in range(turns):
            for mode, found in taken.items():
                fit = Fit(records, noise, mode, epsilon, n_steps, radius)
                found.append(fit.step_time(seeds_of(turn), seconds / 8))
        line = facts(records) | {"radius": radius, "n_steps": n_steps}
        line |= {"noise": noise, "epsilon": epsilon}
        lines.append(line | {mode: 1e6 * statistics.median(t) for mode, t in taken.items()})
    return lines


def threads(records, radii, epsilons, n_seeds):
    """A grid of fits on shared records, by one thread and by two."""
    grid = [
        Fit(records, "laplace", "auto", epsilon, N_STEPS, radius)
        for radius, epsilon in itertools.product(radii, epsilons)
    ]
    lines = []
    for n_threads in (1, 2, 1, 2):
        jobs = [(fit, fit.curator(seed)) for fit in grid for seed in range(n_seeds)]
        with ThreadPoolExecutor(n_threads) as pool:
            wall, cpu = time.perf_counter(), time.process_time()
            list(pool.map(lambda job: job[0].solver.solve(records.data, Logistic(), job[1]), jobs))
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        lines.append(
            facts(records) | {"threads": n_threads, "fits": len(jobs), "wall": wall, "cpu": cpu}
        )
    return lines

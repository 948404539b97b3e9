"""Frank-Wolfe on a Dask cluster: rounds for 1,000 exact steps, and time against the plain loop.

Run ``python benchmarks/dask_rounds.py [shape ...] [--epsilon 0.1 1 10] [--noise laplace
exponential] [--workers 2] [--blocks 4] [--plain 12]``. The plain loop takes one round per step and
is timed over a few of them. Both run on the same cluster, of worker processes on this machine; with
0 workers, over blocks in this process, where a round is a pass.
"""

import argparse
import time
import warnings

from benchmarks.lazy import N_STEPS, door
from benchmarks.shapes import SHAPES, generate
from distributed import Client, LocalCluster

from sparsedp.data.blocks.blocks import RecordBlocks
from sparsedp.data.bounds import Bounds
from sparsedp.losses import Logistic
from sparsedp.solvers import FrankWolfe


class Rounds:
    """Counts the rounds since it was made, the check at the gate not among them."""

    def __init__(self, data):
        blocks = data._blocks
        self._counter = getattr(blocks, "cluster", None) or blocks._machine
        self.first = self._done()

    def _done(self):
        passes = getattr(self._counter, "n_passes", None)
        return self._counter.n_rounds if passes is None else passes

    def take(self):
        """How many there were since the last call."""
        before, self.first = self.first, self._done()
        return self.first - before


def fit_time(data, rounds, shape, epsilon, noise, n_steps, mode, seed=0):
    """Seconds on the clock, and rounds."""
    calibration = "published" if noise == "laplace" else "sound"
    solver = FrankWolfe(radius=shape.radius, n_steps=n_steps, mode=mode, calibration=calibration)
    curator = door(solver, shape.d, shape.n, epsilon, seed)
    start = time.perf_counter()
    solver.solve(data, Logistic(), curator)
    return time.perf_counter() - start, rounds.take()


def main():
    """Measure what was asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("shapes", nargs="*", default=["rcv1", "news20"])
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.1, 1.0, 10.0])
    parser.add_argument("--noise", nargs="+", default=["laplace", "exponential"])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--blocks", type=int, default=4)
    parser.add_argument("--plain", type=int, default=12)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.workers == 0:
        run(options, None)
        return
    with (
        LocalCluster(
            n_workers=options.workers, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        run(options, client)


def run(options, client):
    """Print one line per setting."""
    for name in options.shapes:
        shape = SHAPES[name]
        per_block = -(-shape.n // options.blocks)
        records = RecordBlocks.from_arrays(*generate(shape), rows_per_block=per_block)
        records = records if client is None else records.on(client)
        data = records.clip(Bounds(-1, 1), intercept=False)
        rounds = Rounds(data)
        fit_time(data, rounds, shape, 1.0, "laplace", 2, "full")  # the first round is slower
        took, n_rounds = fit_time(data, rounds, shape, 1.0, "laplace", options.plain, "full")
        plain = took / options.plain
        print(
            f"{name}: n {shape.n} d {shape.d}, {options.blocks} blocks, {options.workers} workers; "
            f"plain loop {1e3 * plain:.1f} ms/step, {n_rounds / options.plain:g} rounds",
            flush=True,
        )
        for epsilon in options.epsilon:
            for noise in options.noise:
                took, n_rounds = fit_time(data, rounds, shape, epsilon, noise, N_STEPS, "auto")
                print(
                    f"  epsilon {epsilon:<4g} {noise:11s} {n_rounds:5d} rounds for {N_STEPS} "
                    f"steps, {1e3 * took / N_STEPS:8.2f} ms/step, "
                    f"{plain * N_STEPS / took:7.1f} x the plain loop",
                    flush=True,
                )


if __name__ == "__main__":
    main()

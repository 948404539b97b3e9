"""Rounds of Frank-Wolfe on a Dask cluster, by dask_rounds.py: a part of benchmarks/bench.py."""

import itertools
import logging

from bench_walk import N_STEPS, NOISES
from dask_rounds import Rounds, fit_time
from distributed import Client, LocalCluster
from shapes import generate

from sparsedp.data.blocks.blocks import RecordBlocks
from sparsedp.data.bounds import Bounds

N_WORKERS, N_BLOCKS, N_PLAIN = 2, 4, 4
EPSILONS = (0.1, 1.0)  # at 10 rounds are many, and take minutes: see docs/large-data.md


def rounds(shapes):
    """A line for each shape, noise and epsilon; the plain loop is timed over a few steps."""
    lines = []
    cluster = LocalCluster(
        n_workers=N_WORKERS,
        threads_per_worker=1,
        dashboard_address=None,
        silence_logs=logging.ERROR,
    )
    with cluster, Client(cluster) as client:
        for name, shape in shapes.items():
            per_block = -(-shape.n // N_BLOCKS)
            records = RecordBlocks.from_arrays(*generate(shape), rows_per_block=per_block)
            data = records.on(client).clip(Bounds(-1, 1), intercept=False)
            counter = Rounds(data)
            fit_time(data, counter, shape, 1.0, "laplace", 2, "full")  # the first round is slower
            plain = fit_time(data, counter, shape, 1.0, "laplace", N_PLAIN, "full")[0] / N_PLAIN
            for noise, epsilon in itertools.product(NOISES, EPSILONS):
                took, n_rounds = fit_time(data, counter, shape, epsilon, noise, N_STEPS, "auto")
                line = {"set": name, "n": shape.n, "d": shape.d, "noise": noise}
                line |= {"epsilon": epsilon, "rounds": n_rounds, "seconds": took}
                lines.append(line | {"plain": N_STEPS * plain})
    return lines

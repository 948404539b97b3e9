"""Times of the exact samplers: ``python benchmarks/samplers.py`` (milliseconds, median).

Set ``SPARSEDP_BACKEND=reference`` to time the NumPy reference instead of the compiled kernels.
"""

import statistics
import time
from collections.abc import Callable

import numpy as np

from sparsedp._kernels import COMPILED
from sparsedp.mechanisms.entropy import KeyStream
from sparsedp.mechanisms.samplers.count import noisy_count
from sparsedp.mechanisms.samplers.gaussian import gaussian_release, rounded_gaussian
from sparsedp.mechanisms.samplers.select import (
    exponential_mechanism,
    exponential_top_k,
    laplace_noisy_max,
)

N = 50_000


def milliseconds(call: Callable[[], object], n_runs: int = 50) -> float:
    """Return the median time of a call."""
    call()
    times = []
    for _ in range(n_runs):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def main() -> None:
    """Print one line per sampler."""
    stream = KeyStream.secure()
    values = np.random.default_rng(0).normal(size=N)
    print(f"kernels: {'compiled' if COMPILED else 'NumPy reference'}; n = {N}")
    for score_range in (1e6, 1.0, 0.05):
        for signed in (False, True):
            time_taken = milliseconds(
                lambda score_range=score_range, signed=signed: exponential_mechanism(
                    values, 1.0, score_range, stream, signed=signed
                )
            )
            label = f"exponential mechanism, range {score_range:g}, signed {signed}"
            print(f"{label:52s} {time_taken:8.3f}")
    others = {
        "exponential mechanism, 20 candidates": lambda: exponential_mechanism(
            values[:20], 1.0, 1.0, stream
        ),
        "top 20 by peeling": lambda: exponential_top_k(values, 1.0, 1.0, 20, stream),
        "Laplace noisy max, signed": lambda: laplace_noisy_max(values, 1.0, stream),
        "rounded Gaussian, sigma 2**30": lambda: rounded_gaussian(N, 2**30, stream),
        "rounded Gaussian, sigma 2**44": lambda: rounded_gaussian(N, 2**44, stream),
        "Gaussian release": lambda: gaussian_release(values, 1.0, 0.1, stream),
        "Gaussian release, 20 values": lambda: gaussian_release(values[:20], 1.0, 0.1, stream),
        "noisy count": lambda: noisy_count(30, 10, 60, 0.5, stream),
    }
    for label, call in others.items():
        print(f"{label:52s} {milliseconds(call):8.3f}")


if __name__ == "__main__":
    main()

"""Fit records that do not fit in memory: files made here, `Pursuit` under a limit on memory.

    python benchmarks/out_of_core.py --folder /tmp/records              # 20 million rows, 6.6 GB
    python benchmarks/out_of_core.py --folder /tmp/records --rows 2e6

Writes NPZ parts (CSR, int32 and float32) to the folder, fits, prints what it took, and deletes the
parts. Memory is limited by the operating system: an attempt to use more ends the program.
"""

import argparse
import os
import resource
import shutil
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy import sparse
from scipy.special import expit

from sparsedp import RecordBlocks, SparseLogisticRegression

N_FEATURES, PER_ROW, N_TRUE = 1000, 40, 10
ROWS_PER_PART = 100_000
GIGABYTE = 2**30


def part(seed: int, n: int) -> tuple[sparse.csr_array, np.ndarray]:
    """Records with 4 % of the features each, one in every 25; the label follows ten features."""
    random = np.random.default_rng([7, seed])
    width = N_FEATURES // PER_ROW
    first = np.arange(0, N_FEATURES, width, dtype=np.int32)
    indices = first + random.integers(0, width, size=(n, PER_ROW), dtype=np.int32)
    values = random.random(n * PER_ROW, dtype=np.float32)
    indptr = np.arange(0, n * PER_ROW + 1, PER_ROW, dtype=np.int32)
    X = sparse.csr_array((values, indices.ravel(), indptr), shape=(n, N_FEATURES))
    weights = np.zeros(N_FEATURES)
    weights[true_features()] = np.linspace(4, 8, N_TRUE) * (-1.0) ** np.arange(N_TRUE)
    y = random.random(n) < expit(X @ weights)
    return X, y.astype(np.int8)


def true_features() -> np.ndarray:
    """The features that matter."""
    return np.arange(N_TRUE) * (N_FEATURES // N_TRUE) + 3


def write_parts(folder: Path, n_rows: int) -> int:
    """Write the records; returns their size in bytes."""
    folder.mkdir(parents=True)
    size = 0
    for number, start in enumerate(range(0, n_rows, ROWS_PER_PART)):
        X, y = part(number, min(ROWS_PER_PART, n_rows - start))
        path = folder / f"part-{number:05d}.npz"
        np.savez(path, data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=y)
        size += path.stat().st_size
        print(f"\rwritten: {start + len(y)} rows", end="", flush=True)
    print()
    return size


def main() -> None:
    """Make, fit, report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True, help="must not exist yet")
    parser.add_argument("--rows", type=float, default=20e6)
    parser.add_argument("--gigabytes", type=float, default=4.0, help="limit on memory")
    parser.add_argument("--n-nonzero", type=int, default=N_TRUE)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    limit = int(options.gigabytes * GIGABYTE)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        started = time.perf_counter()
        size = write_parts(options.folder, int(options.rows))
        made = time.perf_counter()
        records = RecordBlocks.from_npz(options.folder, n_threads=options.threads)
        model = SparseLogisticRegression(
            epsilon=options.epsilon,
            delta=1e-9,
            bounds=(0, 1),
            classes=(0, 1),
            n_nonzero=options.n_nonzero,
            verbose=True,
        )
        cpu = time.process_time()
        model.fit(records)
        cpu = time.process_time() - cpu
    finally:
        shutil.rmtree(options.folder, ignore_errors=True)
    fitted = time.perf_counter()
    X, y = part(10**6, ROWS_PER_PART)
    found = np.flatnonzero(model.coef_)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"\nrows                      {int(options.rows)}")
    print(f"features                  {N_FEATURES}, {PER_ROW / N_FEATURES:.0%} dense")
    print(f"size on disk              {size / GIGABYTE:.2f} GB")
    print(f"limit on address space    {options.gigabytes:g} GB")
    print(f"peak resident memory      {peak / GIGABYTE:.2f} GB")
    print(f"time to write             {made - started:.0f} s")
    print(f"time to fit               {fitted - made:.0f} s ({cpu:.0f} s of CPU)")
    print(f"true features found       {np.isin(found, true_features()).sum()} of {N_TRUE}")
    print(f"accuracy on fresh records {model.score(X, y):.4f}")


if __name__ == "__main__":
    main()

"""Memory of one fit, in a process of its own: a part of benchmarks/bench.py.

    python benchmarks/bench_memory.py FILE RADIUS EPSILON

FILE has the records (scipy.sparse.save_npz) and y beside them in FILE.y.npy. Prints JSON, in bytes.
Linux only: the peak is read from /proc, because what getrusage says includes the peak of the
process that started this one.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy import sparse


def resident(peak=False):
    """Memory of this process, now or at its highest since the last `forget_peak`."""
    status = Path("/proc/self/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+)" if peak else r"VmRSS:\s+(\d+)", status)
    assert found is not None
    return 1024 * int(found[1])


def forget_peak():
    """Make the present the highest."""
    Path("/proc/self/clear_refs").write_text("5")


def measure(records, epsilon):
    """Peak of a fit in a fresh process, and what is in memory before it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.npz"
        sparse.save_npz(path, records.rows, compressed=False)  # 32-bit indices, as is usual
        np.save(f"{path}.y.npy", records.y)
        command = [sys.executable, __file__, path, str(records.radius), str(epsilon)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def main():
    """Load, let through the gate, fit."""
    from bench_walk import Fit, Records

    from sparsedp.solvers.frank_wolfe.compact import compact_columns

    path, radius, epsilon = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
    found = {"libraries": resident()}
    X, y = sparse.load_npz(path), np.load(f"{path}.y.npy")
    records = Records("", X, y, radius)
    found["given"] = resident() - found["libraries"]
    data = records.data
    found["gated"] = resident() - found["libraries"]
    before = resident()
    forget_peak()
    Fit(records, "laplace", "auto", epsilon).run(0)
    found["fit"] = resident(peak=True) - before
    found["process"] = before + found["fit"]
    compact = compact_columns(data)
    assert compact is not None
    found["compact"] = compact.n_bytes
    found["entries"] = X.nnz
    print(json.dumps(found))


if __name__ == "__main__":
    main()

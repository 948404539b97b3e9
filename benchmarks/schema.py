"""What a schema costs: a million records of sixty raw columns, beside pandas reading the same CSV.

    python -m benchmarks.schema --rows 1000000

CPU seconds, and the most memory beyond what was there before, as Linux counts it.
"""

import argparse
import gc
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv

from sparsedp import Schema
from sparsedp.data.files.open_raw import open_raw

WORDS = (
    *("fever", "cough", "pain", "left", "right", "acute", "chronic"),
    *("severe", "mild", "stable", "discharge", "follow", "up"),
)


def columns(n: int, rng: np.random.Generator) -> tuple[dict[str, list[str]], dict[str, dict]]:
    """Raw cells as a CSV writes them, and how they are declared."""
    cells: dict[str, list[str]] = {}
    said: dict[str, dict] = {}

    def add(name: str, found: list[str], **keys: object) -> None:
        cells[name], said[name] = found, keys

    def some(values: list[str], missing: float = 0.0) -> list[str]:
        codes = rng.integers(0, len(values), n)
        codes[rng.random(n) < missing] = len(values)
        return np.array([*values, ""], dtype=object)[codes].tolist()

    for i in range(10):
        add(f"n{i}", [f"{x:.3f}" for x in rng.normal(50, 20, n)], lower=0, upper=100)
    for i in range(4):
        found = [f"{x:.2f}" if x > 5 else "" for x in rng.normal(50, 20, n)]
        add(f"gap{i}", found, lower=0, upper=100, missing="indicator")
    for i in range(4):
        found = [f"{x:,.2f}".translate(str.maketrans(",.", ".,")) for x in rng.normal(5e4, 9e3, n)]
        add(f"euro{i}", found, lower=0, upper=1e5, decimal=",", thousands=".", currency="€")
    for i in range(4):
        add(
            f"whole{i}",
            rng.integers(0, 90, n).astype(str).tolist(),
            kind="whole",
            lower=0,
            upper=90,
        )
    for i, how in enumerate(({"transform": "log1p"}, {"transform": "sqrt"}, {"bins": [20, 40, 60]},
                             {"knots": [0, 25, 50, 100]})):  # fmt: skip
        limits = {} if i > 1 else {"lower": 0, "upper": 100}
        add(f"shape{i}", [f"{x:.1f}" for x in rng.uniform(0, 100, n)], **limits, **how)
    for i in range(8):
        add(f"two{i}", some(["F", "M"], 0.05), categories=["F", "M"], missing="indicator")
    for i in range(8):
        levels = [f"level {j}" for j in range(3 + i)]
        add(f"level{i}", some([*levels, "new"]), categories=levels, other=True)
    for i in range(7):
        add(f"flag{i}", some(["Y", "N"]), kind="yes_no")
    days = np.array([str(d) for d in np.arange("2000-01-01", "2030-01-01", dtype="datetime64[D]")])
    limits = {"lower": "2000-01-01", "upper": "2030-01-01"}
    for i in range(3):
        add(f"day{i}", some(days.tolist()), kind="date", parts=["days", "year"], **limits)
    for i in range(3):
        found = some([f"{d[8:]}.{d[5:7]}.{d[:4]}" for d in days])
        add(f"tag{i}", found, kind="date", parts=["month", "days"], format="%d.%m.%Y", **limits)
    for i in range(4):
        add(f"hour{i}", rng.integers(0, 24, n).astype(str).tolist(), kind="cyclic", period=24)
    for i in range(1):
        notes = [" ".join(rng.choice(WORDS, 6)) for _ in range(min(n, 5000))]
        add(f"note{i}", some(notes), kind="text", words=8)
    return cells, said


def memory(name: str) -> int:
    """A line of this process's status, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return 1024 * int(line.split()[1])
    raise OSError("no such line: this needs Linux")


def measured(task: Callable[[], object]) -> tuple[object, float, int]:
    """Result, CPU seconds, and the most memory beyond what was there before."""
    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the highest mark begins anew
    start = time.process_time()
    result = task()
    return result, time.process_time() - start, memory("VmHWM") - before


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    n = parser.parse_args().rows
    cells, said = columns(n, np.random.default_rng(0))
    schema = Schema.from_dict({"features": said})
    print(f"{n:,} records, {len(said)} raw columns, {schema.n_columns} bounded ones")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "raw.csv"
        pyarrow.csv.write_csv(pa.table(cells), path)
        print(f"CSV of {path.stat().st_size / 2**20:,.0f} MiB")
        frame, reading, _ = measured(lambda: pd.read_csv(path))
        print(f"pandas.read_csv          {reading:7.1f} s CPU")
        gc.freeze()  # the lists made here are no part of what reading a file costs
        _, seconds, most = measured(lambda: open_raw(path).read())
        gc.unfreeze()
        print(
            f"our reader, cell by cell {seconds:7.1f} s CPU, {seconds / reading:.2f} of reading; "
            f"memory {most / 2**20:,.0f} MiB"
        )
    for name, table in (("lists of text", cells), ("data frame of pandas", frame)):
        result, seconds, most = measured(lambda table=table: schema.encode(table))
        size = result.nbytes  # pyrefly: ignore
        print(
            f"{name:24} {seconds:7.1f} s CPU, {seconds / reading:.2f} of reading; memory "
            f"{most / 2**20:,.0f} MiB, {most / size:.2f} of the result ({size / 2**20:,.0f} MiB)"
        )
        del result


if __name__ == "__main__":
    main()

"""Damaged files through the command line: no traceback, no crash, no charge for what is refused.

    python -m tests.fuzz.files --files 20000 --seed 1

Every file is run in a child that was forked from a warm parent, a batch of files per child, with a
limit on its memory. Prints what failed and the peak memory; exits with 1 if anything did.
"""

import argparse
import contextlib
import gzip
import io
import json
import lzma
import os
import random
import resource
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from sparsedp import Ledger
from sparsedp.cli import VERBS, main
from sparsedp.release.read import content_hash
from tests.fuzz.mutations import (
    bombs,
    damaged,
    damaged_json,
    damaged_npz,
    damaged_parquet,
    damaged_text,
    damaged_zip,
)

BATCH = 40
SECONDS = 60
"""A single file may take as long, on a busy machine."""

MEMORY = 1500
"""MiB that a child may have at its peak, the warm parent's pages among them."""

BOMB = 72 * 2**20
FIT = ("--epsilon", "1", "--delta", "1e-5", "--solver", "sparsifier", "--set", "n_steps=4")
FIT += ("--n-nonzero", "2", "--quiet", "--ledger", "budget.ledger", "--force", "-o", "out")
TARGET = ("--target", "y", "--classes", "0,1")
BOUNDS = """[target]
column = "y"
classes = [0, 1]

[bounds]
lower = 0
upper = 1

[features.a]
lower = 0

[features.b]
upper = 1

[features.color]
categories = ["red", "blue"]
"""


def prepare(folder: Path) -> None:
    """Whole files of every kind, and bombs, in the folder."""
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet as pq

    os.chdir(folder)
    rows = [(k % 2, k % 3 / 2, ("red", "blue")[k % 2], k % 2) for k in range(60)]
    text = "a,b,color,y\n" + "".join(f"{a},{b},{c},{y}\n" for a, b, c, y in rows)
    Path("t.csv").write_text(text)
    Path("t.csv.gz").write_bytes(gzip.compress(text.encode()))
    Path("t.csv.xz").write_bytes(lzma.compress(text.encode()))
    Path("t.svm").write_text("".join(f"{y} 1:{a} 2:{b}\n" for a, b, _, y in rows))
    Path("t.svm.gz").write_bytes(gzip.compress(Path("t.svm").read_bytes()))
    columns = dict(zip(("a", "b", "color", "y"), map(list, zip(*rows, strict=True)), strict=True))
    pq.write_table(pa.table(columns), "t.parquet")
    pa.feather.write_feather(pa.table(columns), "t.feather")
    with pa.ipc.new_stream("t.arrow", pa.table(columns).schema) as writer:
        writer.write_table(pa.table(columns), max_chunksize=25)
    records = [dict(zip(columns, row, strict=True)) for row in rows]
    Path("t.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    write_workbook("t.xlsx", list(columns), rows)
    write_database("t.db", list(columns), rows)
    codes = [{"name": "a", "kind": "number", "lower": 0, "upper": 1}]
    codes += [{"name": "color", "kind": "category", "categories": ["red", "blue"]}]
    Path("codes.json").write_text(json.dumps(codes))
    Path("codes.csv").write_text(
        "name,kind,lower,upper,categories\na,number,0,1,\ncolor,,,,red|blue\n"
    )
    X, y = np.array([row[:2] for row in rows], dtype=float), np.array(columns["y"])
    np.savez("t.npz", X=X, y=y)
    indptr = np.arange(0, 121, 2)
    np.savez_compressed(
        "s.npz", data=X.ravel(), indices=np.tile([0, 1], 60), indptr=indptr, shape=(60, 2), y=y
    )
    Path("bounds.toml").write_text(BOUNDS)
    Ledger(1e6, 0.9, "budget.ledger")
    for output, data, more in (("m", "t.csv", ("--bounds", "bounds.toml")),
                               ("n", "t.npz", (*TARGET, "--bounds", "0,1"))):  # fmt: skip
        assert run(["fit", data, *more, *FIT[:-1], output])[0] == 0
    change(Path("m/model.json"), join)
    change(Path("n/model.json"), bend)
    asked = ["evaluate", "m", "t.csv", "--exact-not-private", "--json"]
    Path("scores.json").write_text(run(asked)[1])
    for name, content in bombs(BOMB).items():
        Path(name).write_bytes(content)


def change(path: Path, how: Callable[[dict[str, Any]], None]) -> None:
    """Another whole model file."""
    content = json.loads(path.read_text())
    content.pop("sha256")
    how(content)
    content["sha256"] = content_hash(content)
    path.write_text(json.dumps(content))


def join(content: dict[str, Any]) -> None:
    """Let all features of a model interact, also those that do nothing else."""
    names = content["privacy"]["bounds"]["features"]
    used = {feature["index"]: feature for feature in content["features"]}
    nothing = {"lower": 0.0, "upper": 1.0, "coef": [0.0]}
    content["features"] = [
        used.get(j, {"index": j, "name": name, **nothing}) for j, name in enumerate(names)
    ]
    content["interactions"] = [
        {"features": [0, 1], "weights": [0.5]},
        {"features": [0, 2], "weights": [-0.2]},
    ]
    content["privacy"]["model"] |= {"shapes": "auto", "interactions": True}


def bend(content: dict[str, Any]) -> None:
    """Give the features of a model shapes."""
    content["shapes"] = [
        {"feature": f["index"], "knots": [0.0, 0.3, 0.6, 1.0], "bends": [[0.0, 0.2, -0.1, 0.0]]}
        for f in content["features"]
    ]
    content["privacy"]["model"] |= {"shapes": "auto", "monotone": {"increasing": [0]}}


def write_workbook(path: str, names: list[str], rows: list[tuple]) -> None:
    """An Excel file."""
    import openpyxl

    book = openpyxl.Workbook()
    for row in [names, *rows]:
        book.active.append(list(row))
    book.save(path)


def write_database(path: str, names: list[str], rows: list[tuple]) -> None:
    """An SQLite file."""
    connection = sqlite3.connect(path)
    connection.execute(f"CREATE TABLE t ({', '.join(names)})")
    connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(names))})", rows)
    connection.commit()
    connection.close()


def commands(name: str, path: str) -> list[list[str]]:
    """What to do with a file in the place of a whole one called `name`."""
    width = ["--n-features", "2"] if ".svm" in name else []
    kind = name.split(".")[1]
    if name.startswith("codes"):
        return [["init", "t.csv", "--codebook", path, "--target", "y", "--force", "-o", "i.toml"]]
    if kind == "json":
        if name == "scores.json":
            return [["report", "m", "--evaluation", path, "-o", "r.html"]]
        data = "t.npz" if name == "n/model.json" else "t.csv"
        return [
            ["report", path, "-o", "r.html"],
            ["verify", path],
            ["verify", path, "--json", "--ledger", "budget.ledger"],
            ["predict", path, data, "-o", "p.csv"],
            ["evaluate", path, data, "--exact-not-private", "--json"],
        ]
    if name.endswith("bounds.toml") or name == "b.toml":
        return [["fit", "t.csv", "--bounds", path, *FIT]]
    if kind == "toml":
        return [["fit", "t.csv", "--config", path, *FIT[-5:]]]
    if kind == "db":
        path = f"sqlite:///{path}?query=SELECT * FROM t"
    if kind in ("csv", "parquet", "feather", "arrow", "jsonl", "xlsx", "db"):
        fit = ["fit", path, "--bounds", "bounds.toml", *FIT]
        model = "m"
    else:
        target = TARGET if kind == "npz" else TARGET[2:]
        fit = ["fit", path, *target, *width, "--bounds", "0,1", *FIT]
        model = "n"
    return [
        fit,
        fit,
        [*fit, "--invalid", "replace"],
        [*fit, "--seed", "1"],
        ["predict", model, path, "-o", "p.csv"],
        ["evaluate", model, path, "--exact-not-private", "--json"],
        ["init", path, "--force", "-o", "i.toml"],
    ]


KINDS = {
    "t.csv": damaged_text,
    "t.csv.gz": damaged,
    "t.csv.xz": damaged,
    "t.svm": damaged_text,
    "t.svm.gz": damaged,
    "t.npz": damaged_npz,
    "s.npz": damaged_npz,
    "t.parquet": damaged_parquet,
    "t.feather": damaged,
    "t.arrow": damaged,
    "t.jsonl": damaged_text,
    "t.xlsx": damaged_zip,
    "t.db": damaged,
    "codes.json": damaged_text,
    "codes.csv": damaged_text,
    "bounds.toml": damaged_text,
    "m/model.json": damaged_json,
    "n/model.json": damaged_json,
    "m/run.toml": damaged_text,
    "scores.json": damaged_json,
}
WEIGHTS = (4, 2, 2, 2, 1, 2, 3, 3, 2, 2, 2, 3, 2, 1, 1, 2, 6, 6, 1, 1)
BOMBS = ("b.csv.xz", "b.csv.gz", "b.csv.bz2", "b.svm.gz", "b.npz", "b.json", "b.toml")
BOMBS += ("b.feather", "b.xlsx", "b.jsonl")


def case(number: int, seed: int) -> tuple[list[str], str]:
    """Write the file of a case; return the command, and which kind it is."""
    drawn = random.Random(f"{seed}-{number}")
    if drawn.random() < 0.005:
        name = drawn.choice(BOMBS)
        return drawn.choice(commands(name, name)), name
    (name,) = drawn.choices(list(KINDS), WEIGHTS)
    data = KINDS[name](Path(name).read_bytes(), drawn)
    path = "x" + name.replace("/", "-")[1:]
    if name in ("t.csv.gz", "t.csv.xz", "t.svm.gz") and drawn.random() < 0.3:
        # Damage inside of the archive instead.
        plain = damaged_text(Path(name).with_suffix("").read_bytes(), drawn)
        data = (lzma if name.endswith("xz") else gzip).compress(plain)
    Path(path).write_bytes(data)
    return drawn.choice(commands(name, path)), name


def run(arguments: list[str]) -> tuple[int | None, str, str]:
    """Exit code (None after a traceback), standard output and error of a command."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code: int | None = main(arguments, prog_name="sparsedp") or 0
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
        except BaseException:
            code = None
            traceback.print_exc()
    return code, out.getvalue(), err.getvalue()


def failure(number: int, seed: int) -> tuple[str | None, str]:
    """Run a case; say what is wrong with how it ended, and how it ended."""
    arguments, kind = case(number, seed)
    ledger = Ledger(path="budget.ledger")
    before = len(ledger.history())
    code, out, err = run(arguments)
    charged = len(ledger.history()) - before
    ending = f"{arguments[0]} exits with {code}"
    text = out + err
    wrong = None
    if code not in (0, 1, 2):
        wrong = f"exit code {code}: {err.strip()[-1500:]}"
    elif "Aborted" in text or "Traceback" in text:
        wrong = f"said {text[-300:]!r}"
    elif code != 0 and charged:
        wrong = f"exit code {code}, and {charged} charged: {err.strip()[-300:]}"
    elif code == 2 and len(err.strip().splitlines()) > 2:
        wrong = f"more than a sentence: {err.strip()[:300]!r}"
    return (None if wrong is None else f"{kind}: {' '.join(arguments)}: {wrong}"), ending


def batch(numbers: range, seed: int, folder: Path, report: Path) -> None:
    """In a child: run some cases in a copy of the folder, and write how each ended."""
    own = Path(tempfile.mkdtemp(dir=folder.parent))
    for path in folder.iterdir():
        if path.is_dir():
            shutil.copytree(path, own / path.name)
        elif path.name in BOMBS:
            os.link(path, own / path.name)
        else:
            shutil.copy(path, own / path.name)
    os.chdir(own)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (used + 3 * 2**30, used + 3 * 2**30))
    with report.open("w") as file:
        for number in numbers:
            print(json.dumps({"case": number}), file=file, flush=True)
            signal.alarm(SECONDS)
            wrong, ending = failure(number, seed)
            signal.alarm(0)
            print(json.dumps({"ending": ending, "wrong": wrong}), file=file, flush=True)
    shutil.rmtree(own)


def fuzz(n_files: int, seed: int, progress: bool = False) -> tuple[list[str], int, Counter]:
    """Run cases; return what failed, the peak memory in MiB, and how commands ended."""
    for verb in VERBS:
        main.get_command(None, verb)
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    failures: list[str] = []
    endings: Counter = Counter()
    peak, start = 0, time.monotonic()
    with tempfile.TemporaryDirectory(prefix="sparsedp-fuzz-", dir=memory) as name:
        folder = Path(name) / "whole"
        folder.mkdir()
        here = Path.cwd()
        prepare(folder)
        os.chdir(here)
        for first in range(0, n_files, BATCH):
            numbers = range(first, min(first + BATCH, n_files))
            report = Path(name) / "report"
            report.unlink(missing_ok=True)
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    batch(numbers, seed, folder, report)
                    code = 0
                except BaseException:
                    traceback.print_exc()
                finally:
                    os._exit(code)
            _, status, usage = os.wait4(child, 0)
            peak = max(peak, usage.ru_maxrss // 1024)
            lines = [json.loads(line) for line in report.read_text().splitlines()]
            endings.update(line["ending"] for line in lines if "ending" in line)
            found = [line["wrong"] for line in lines if line.get("wrong")]
            if status:
                found.append(f"case {lines[-1]} ended the process with status {status}")
            failures += found
            for text in found if progress else ():
                print(text, file=sys.stderr, flush=True)
            if progress and first % 1000 == 0:
                rate = (first + len(numbers)) / (time.monotonic() - start)
                print(f"{first + len(numbers)} files, {rate:.0f} per second, peak {peak} MiB, "
                      f"{len(failures)} failures", file=sys.stderr, flush=True)  # fmt: skip
    return failures, peak, endings


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    failed, highest, ended = fuzz(given.files, given.seed, progress=True)
    for text in failed[:50]:
        print(text)
    for ending, count in sorted(ended.items()):
        print(f"{count:6}  {ending}")
    print(f"{given.files} files, {len(failed)} failures, peak memory {highest} MiB")
    sys.exit(bool(failed) or highest > MEMORY)

"""``python -m tests.faults.kill_ledger``: kill -9 while ledgers are made and charged (make kills).

A forked child works, the parent kills it at a random moment and looks at what is left. What a
child was told to be done it writes into a pipe: that, and nothing else, must be there afterwards.
"""

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from sparsedp.privacy.ledger import BudgetExceeded, Ledger

BUDGET = (1000.0, 1e-3)


def killed(work: Callable[[Callable[[str], None]], None], delay: float) -> tuple[list[str], bool]:
    """Run ``work`` in a child, kill it after ``delay``: what it said, and whether it had ended."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work(lambda text: os.write(write, f"{text}\n".encode()) and None)
            code = 0
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(code)
    os.close(write)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    with os.fdopen(read) as pipe:
        said = pipe.read().split()
    ended = os.waitstatus_to_exitcode(status)
    assert ended in (0, -signal.SIGKILL), f"a child failed with {ended}"
    return said, ended == 0


def creations(n_kills: int, chance: random.Random, folder: Path) -> Counter:
    """Kill who makes a ledger: there is none, and it can be made, or a whole one."""
    started = time.monotonic()
    Ledger(*BUDGET, folder / "first")
    length = time.monotonic() - started
    seen: Counter = Counter()
    for i in range(n_kills):
        path = folder / f"l{i}"
        said, ended = killed(
            lambda say, path=path: say(Ledger(*BUDGET, path).terms["id"]),
            chance.uniform(0, 1.3 * length),
        )
        there = path.exists()
        assert there or not said, "a ledger that was made is gone"
        ledger = Ledger(*BUDGET, path)
        assert not said or said == [ledger.terms["id"]]
        ledger.verify()
        ledger.charge(1.0, 0.0)
        assert ledger.remaining().epsilon == BUDGET[0] - 1
        seen["ended before the kill" if ended else "whole" if there else "absent"] += 1
        if i % 50 == 49:
            for left in folder.iterdir():
                left.unlink()
    return seen


def charges(n_kills: int, chance: random.Random, folder: Path) -> Counter:
    """Kill who charges: every charge that was confirmed is there once, and one more at most."""
    seen: Counter = Counter()
    ledger, confirmed, names = Ledger(*BUDGET, folder / "c0"), set(), []
    for i in range(n_kills):
        if i % 100 == 0:
            ledger, confirmed, names = Ledger(*BUDGET, folder / f"c{i}"), set(), []

        def work(say: Callable[[str], None], i: int = i, ledger: Ledger = ledger) -> None:
            for k in range(100):
                receipt = ledger.charge(0.01, 1e-9, what=f"{i}.{k}")
                say(f"{i}.{k}")
                ledger.finish(receipt, f"{i}.{k}")
                say(f"{i}.{k}.model")

        said, _ = killed(work, chance.expovariate(10))
        confirmed |= set(said)
        ledger.verify()
        before, history = len(names), ledger.history()
        names = [charge.what for charge in history]
        models = {f"{charge.what}.model" for charge in history if not charge.pending}
        assert len(set(names)) == len(names), "a charge was doubled"
        assert confirmed <= set(names) | models, "a confirmed line is lost"
        new = len(names) - before
        told = sum(not text.endswith("model") for text in said)
        assert told <= new <= told + 1
        spent = BUDGET[0] - ledger.remaining().epsilon
        assert abs(spent - 0.01 * len(names)) < 1e-9
        seen["charged, not confirmed" if new > told else "as confirmed"] += 1
        seen["charges"] += new
    return seen


def crowd(n_processes: int, n_charges: int, folder: Path) -> Counter:
    """Many processes on one ledger: exactly what fits is charged, and nobody sees an error."""
    ledger = Ledger(0.01 * n_charges, 0.0, folder / "crowd")
    read, write = os.pipe()
    children = []
    for _ in range(n_processes):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                while True:
                    ledger.charge(0.01, 0.0)
                    os.write(write, b".")
            except BudgetExceeded:
                code = 0
            except BaseException as error:
                os.write(2, f"{type(error).__name__}: {error}\n".encode())
            finally:
                os._exit(code)
        children.append(child)
    os.close(write)
    codes = Counter(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)
    with os.fdopen(read, "rb") as pipe:
        done = len(pipe.read())
    assert codes == Counter({0: n_processes}), codes
    assert done == len(ledger.history()) == n_charges
    assert ledger.remaining().epsilon == 0
    ledger.verify()
    return Counter({"processes": n_processes, "charges": done})


def main() -> None:
    """Run all of it and print what was seen."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}")
    chance = random.Random(arguments.seed)
    for name, work in (
        ("creation", lambda folder: creations(arguments.kills, chance, folder)),
        ("charging", lambda folder: charges(arguments.kills, chance, folder)),
        ("crowd", lambda folder: crowd(32, 400, folder)),
    ):
        folder = Path(tempfile.mkdtemp(prefix="kill-ledger-"))
        started = time.monotonic()
        try:
            seen = work(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        print(f"{name}: {dict(seen)} in {time.monotonic() - started:.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())

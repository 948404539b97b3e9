"""How long Ctrl-C takes: SIGINT at random times into fits and plans (``make interrupts``).

    python -m tests.faults.interrupts [--times 5] [--seed 1] [NAME ...]

The data are made once; children are forked, so nothing but the fit is timed. A run that ends before
its signal counts as no reaction. What counts is the processor time of a reaction, which other work
on the machine does not stretch; the time by the clock is printed beside it. Exits with 1 if a
reaction took longer than a second.
"""

import argparse
import os
import random
import signal
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse

from sparsedp import Bounds, SparseLogisticRegression
from sparsedp.losses import Logistic
from sparsedp.privacy import Schedule, Select
from sparsedp.privacy.account.calibration import calibrate
from sparsedp.solvers import BY_NAME

LIMIT = 1.0
"""Seconds within which Ctrl-C must act."""

LONGEST = 8.0
"""Seconds into a run at which the last signals are sent."""


def scenarios(scale: float) -> dict[str, Callable[[], object]]:
    """What is interrupted, by name."""
    rng = np.random.default_rng(0)
    n = int(200_000 * scale)
    dense = rng.uniform(-1, 1, (n, 200))
    wide = sparse.random_array((n, 20_000), density=0.002, format="csr", rng=rng)
    wide.data[:] = 1.0
    y = (dense[:, 0] + 0.3 * rng.standard_normal(n) > 0).astype(int)

    def fit(X: object, solver: str, **more: object) -> object:
        return SparseLogisticRegression(
            epsilon=1.0,
            delta=1e-6,
            bounds=Bounds(-1, 1, row_norm=None),
            solver=BY_NAME[solver](),
            classes=(0, 1),
            **more,
        ).fit(X, y)

    found: dict[str, Callable[[], object]] = {
        "plan 200,000 steps": lambda: calibrate(Schedule((Select(200_000),)), 1.0, 1e-6),
        "plan at epsilon 10,000": lambda: calibrate(Schedule((Select(1_500),)), 1e4, 1e-5),
    }
    for solver in BY_NAME:
        if not all(isinstance(Logistic(), need) for need in BY_NAME[solver]().needs):
            continue
        found[f"{solver}, dense"] = partial(fit, dense, solver)
    for solver in ("pursuit", "frank_wolfe"):
        found[f"{solver}, sparse"] = partial(fit, wide, solver)
    return found


def reaction(run: Callable[[], object], after: float) -> tuple[float, float] | None:
    """From the signal to the end of the child, in seconds of the processor and of the clock."""
    pid = os.fork()
    if pid == 0:
        try:
            warnings.simplefilter("ignore")
            run()
        except KeyboardInterrupt:
            os._exit(130)
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            os._exit(1)
        os._exit(0)
    time.sleep(after)
    used = _processor_seconds(pid)
    os.kill(pid, signal.SIGINT)  # a child that has ended is still there to be waited for
    sent = time.monotonic()
    _, status, usage = os.wait4(pid, 0)
    seconds = usage.ru_utime + usage.ru_stime - used, time.monotonic() - sent
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, 130):
        raise RuntimeError(f"the run failed with {code}")
    return seconds if code == 130 else None


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help="parts of names of runs; by default all")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scale", type=float, default=1.0, help="of the number of records")
    given = parser.parse_args()
    chance = random.Random(given.seed)
    worst = 0.0
    for name, run in scenarios(given.scale).items():
        if given.names and not any(part in name for part in given.names):
            continue
        longest, found = LONGEST, []
        for _ in range(given.times):
            after = chance.uniform(0.05, longest)
            seconds = reaction(run, after)
            if seconds is None:
                longest = max(0.1, after / 2)  # it takes no longer than this: strike earlier
            else:
                found.append((*seconds, after))
        worst = max([worst, *(seconds[0] for seconds in found)])
        shown = "  ".join(f"{a:.2f} s ({b:.2f}, at {at:.1f})" for a, b, at in sorted(found))
        print(f"{name:30}{shown or 'too quick'}", flush=True)
    print(f"longest reaction: {worst:.2f} s")
    sys.exit(worst > LIMIT)


if __name__ == "__main__":
    main()

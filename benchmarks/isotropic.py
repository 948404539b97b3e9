"""What doing without a Gram matrix buys, on tasks by which nothing about it was chosen.

    PYTHONPATH=src:. python -m benchmarks.isotropic --data DIR [--runs 3]

Tasks and sizes are those of benchmarks/planning, of which the sets of benchmarks/rivals as a whole
are left out. Prints a line for every task, size and epsilon at which the two differ, and the mean.
"""

import argparse
import math
import warnings
from unittest.mock import patch

import numpy as np
from benchmarks.planning.bank import EPSILONS, fitted, sizes
from benchmarks.planning.tasks import TASKS, loader, table
from benchmarks.rivals.sets import BINARY

from sparsedp.solvers.pursuit import pursuit
from sparsedp.solvers.pursuit.columns.isotropic import FEWEST_FEATURES

LOOKED_AT = (*BINARY, "digits", "usps", "dna", "breast", "kdd", "satimage")
"""By which the limits were chosen, under the names of either benchmark."""


def compared(made, n, epsilon, runs):
    """Quality without a Gram matrix where features are many, and with one in any case, by run."""
    found = []
    for run in range(runs):
        now = fitted(made, n, epsilon, run)["quality"]
        with patch.object(pursuit, "LOUD", math.inf):
            found.append((now, fitted(made, n, epsilon, run)["quality"]))
    return np.array(found)


def main():
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    load, cells = loader(options.data), []
    print("| task | features | records | epsilon | with a Gram matrix | without | difference |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for name, task in TASKS.items():
        if task.kind == "regression" or name in LOOKED_AT:
            continue
        made = table(name, load)
        d = made.X.shape[1]
        if d < FEWEST_FEATURES:
            continue
        for n in sizes(made):
            for epsilon in EPSILONS:
                found = compared(made, n, epsilon, options.runs)
                less = found[:, 0] - found[:, 1]
                if not less.any():
                    continue
                cells.append((epsilon, less.mean()))
                error = less.std() / math.sqrt(max(options.runs - 1, 1))
                without, with_one = found.mean(axis=0)
                print(
                    f"| {name} | {d} | {n} | {epsilon:g} | {with_one:.3f} | {without:.3f} | "
                    f"{less.mean():+.3f} ± {error:.3f} |",
                    flush=True,
                )
    differences = np.array(cells)
    print()
    for epsilon in EPSILONS:
        some = differences[differences[:, 0] == epsilon, 1]
        if len(some):
            lost = int((some < -0.01).sum())
            print(
                f"epsilon = {epsilon:g}: mean difference {some.mean():+.3f} in {len(some)} cells, "
                f"the least {some.min():+.3f}, the largest {some.max():+.3f}, "
                f"{lost} below -0.01"
            )


if __name__ == "__main__":
    main()

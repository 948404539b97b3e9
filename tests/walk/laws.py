"""``python -m tests.walk.laws``: the joint law of three steps in every combination.

Some 2,000 chi-square tests with fixed seeds, each with so many walks; one fails below p = 1e-10: a
false alarm of all together less than once in 1e6. Takes a quarter of an hour with 1,000 walks.
"""

import argparse
import sys
import time

from sparsedp._kernels.walk import kernel
from tests.walk.walks import PATHS, cases, combinations, compare, law, rate_of

FALSE_ALARM = 1e-10

BELOW = 0.006
"""Part of the p-values below 0.01 if all laws hold, by 2,676 draws from the exact laws themselves:
many laws leave no choice, and a p-value is the smallest of seven times seven."""


def main() -> int:
    """Print the smallest p-values; the exit code is 1 if one is too small."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--walks", type=int, default=1000)
    parser.add_argument("--every", type=int, default=1, help="take only every so many combinations")
    parser.add_argument("--seed", type=int, default=0, help="of other walks")
    asked = parser.parse_args()
    started, known, laws, found = time.monotonic(), cases(), {}, []
    totals: dict[str, int] = {}
    for number, (name, layout, steepness, laplace, path) in enumerate(combinations()):
        if number % asked.every:
            continue
        case, key = known[name], (name, layout, steepness, laplace)
        records = case.records(layout)
        if key not in laws:
            laws[key] = law(case, records, rate_of(case, steepness), laplace)
        n_walks = asked.walks // 10 if path == "resolved" else asked.walks
        how = PATHS[path] | {"laplace": laplace, "expected": laws[key]}
        seed = number + 10_000 * asked.seed
        p, counters = compare(kernel, case, records, steepness, n_walks, seed, **how)
        found.append((p, *key, path))
        totals = {k: totals.get(k, 0) + v for k, v in counters.items()}
    found.sort(key=lambda one: one[0])
    print(f"{len(found)} laws, {time.monotonic() - started:.0f} s; {totals}")
    small = sum(one[0] < 0.01 for one in found)
    print(f"{small} below 0.01 (expected about {BELOW * len(found):.0f})")
    for one in found[:8]:
        print(*one)
    return int(found[0][0] < FALSE_ALARM)


if __name__ == "__main__":
    sys.exit(main())

"""Precision (= recall) of private screening on the benchmark of Khanna et al.

    python benchmarks/screening.py [--runs 20] [--share 0.95]

3,000 records, 600 features of which 70 matter, epsilon = 2.5, delta = 1/6000, 70 features kept. The
share is the part of the squared budget that screening uses; the rest is left to the solver.
"""

import argparse

import numpy as np

from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.data.synthetic import khanna_screening
from sparsedp.losses import Logistic, Squared
from sparsedp.mechanisms import KeyStream, NoisyCurator
from sparsedp.privacy import Budget, PublicFacts
from sparsedp.solvers import FrankWolfe, Screened


def kept_correctly(task, neighbors, method, share, runs):
    """Part of the kept features that matter, over runs with fresh data and noise."""
    loss = Squared() if task == "linear" else Logistic()
    solver = Screened(FrankWolfe(n_steps=10), n_keep=70, method=method, share=share)
    public = PublicFacts(
        n_features=600,
        n_nonzero=70,
        neighbors=neighbors,
        n_records=3000 if neighbors == "replace_one" else None,
    )
    found = []
    for seed in range(runs):
        made = khanna_screening(task=task, seed=seed)
        target = (
            {"target_bounds": (float(np.min(made.y)), float(np.max(made.y)))}
            if task == "linear"
            else {}
        )
        data = Dataset.clip(made.X, made.y, Bounds(-1, 1), **target)
        budget = Budget(solver.schedule(public), epsilon=2.5, delta=1 / 6000, neighbors=neighbors)
        kept = solver.screen(data, loss, NoisyCurator(budget, public, KeyStream.from_seed(seed)))
        found.append(np.isin(kept, np.flatnonzero(made.weights)).mean())
    return found


def main():
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--share", type=float, default=0.95)
    options = parser.parse_args()
    print("| loss | neighbors | selection | gradient |\n|---|---|---|---|")
    for task in ("linear", "logistic"):
        for neighbors in ("add_remove", "replace_one"):
            cells = [
                np.mean(kept_correctly(task, neighbors, method, options.share, options.runs))
                for method in ("selection", "gradient")
            ]
            print(f"| {task} | {neighbors} | {cells[0]:.3f} | {cells[1]:.3f} |", flush=True)


if __name__ == "__main__":
    main()

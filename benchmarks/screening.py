"""Precision (= recall) of private screening on the benchmark of Khanna et al.

    python benchmarks/screening.py [--runs 20] [--share 0.95]
    python benchmarks/screening.py --certificates [--runs 20] [--records 3000]

3,000 records, 600 features of which 70 matter, epsilon = 2.5, delta = 1/6000, 70 features kept. The
share is the part of the squared budget that screening uses; the rest is left to the solver.

With --certificates: a whole fit, half of it screening, that says what screening may have cost. All
figures are per record.
"""

import argparse
from dataclasses import replace

import numpy as np

from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.data.synthetic import khanna_screening
from sparsedp.losses import Logistic, Squared
from sparsedp.mechanisms import KeyStream, NoiselessCurator, NoisyCurator
from sparsedp.privacy import Budget, PublicFacts
from sparsedp.solvers import Certificate, FrankWolfe, Screened


def facts(neighbors, n_records):
    """What is public about the benchmark."""
    return PublicFacts(
        n_features=600,
        n_nonzero=70,
        neighbors=neighbors,
        n_records=n_records if neighbors == "replace_one" else None,
    )


def table(task, seed, n_records):
    """The data, the loss, and which features matter."""
    made = khanna_screening(n=n_records, task=task, seed=seed)
    target = (
        {"target_bounds": (float(np.min(made.y)), float(np.max(made.y)))}
        if task == "linear"
        else {}
    )
    loss = Squared() if task == "linear" else Logistic()
    return Dataset.clip(made.X, made.y, Bounds(-1, 1), **target), loss, made.weights != 0


def door(solver, public, seed):
    """A curator with the benchmark's budget."""
    budget = Budget(
        solver.schedule(public), epsilon=2.5, delta=1 / 6000, neighbors=public.neighbors
    )
    return NoisyCurator(budget, public, KeyStream.from_seed(seed))


def kept_correctly(task, neighbors, method, share, runs):
    """Part of the kept features that matter, over runs with fresh data and noise."""
    solver = Screened(FrankWolfe(n_steps=10), n_keep=70, method=method, share=share)
    public = facts(neighbors, 3000)
    found = []
    for seed in range(runs):
        data, loss, matters = table(task, seed, 3000)
        kept = solver.screen(data, loss, door(solver, public, seed)).kept
        found.append(matters[kept].mean())
    return found


def certificates(task, neighbors, radius, runs, n_records):
    """Released bound and exact value, per record, and how often the bound held."""
    certificate = Certificate(radius=radius)
    solver = Screened(FrankWolfe(radius=3, n_steps=60), n_keep=70, certificate=certificate)
    public = facts(neighbors, n_records)
    rows = []
    for seed in range(runs):
        data, loss, _ = table(task, seed, n_records)
        curator = door(solver, public, seed)
        screen = solver.screen(data, loss, curator)
        narrow = curator.narrowed(replace(public, n_features=70))
        fitted = solver.solver.solve(data.features(screen.kept), loss, narrow).weights
        weights = np.zeros(601)
        weights[np.append(screen.kept, 600)] = fitted
        exact, bound = (
            certificate.release(data, loss, weights, screen.kept, answers).value
            for answers in (NoiselessCurator(public), curator)
        )
        rows.append((screen.safety.tau / n_records, exact / n_records, bound / n_records))
    return np.array(rows)


def main():
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--share", type=float, default=0.95)
    parser.add_argument("--certificates", action="store_true")
    parser.add_argument("--records", type=int, default=3000)
    options = parser.parse_args()
    if options.certificates:
        print("| loss | neighbors | tau | certificate | exact | released | held |")
        print("|---|---|---|---|---|---|---|")
        for task in ("linear", "logistic"):
            for neighbors in ("add_remove", "replace_one"):
                for radius, kind in ((None, "largest slope"), (3.0, "gap, radius 3")):
                    rows = certificates(task, neighbors, radius, options.runs, options.records)
                    tau, exact, bound = rows.mean(axis=0)
                    held = int(np.sum(rows[:, 2] >= rows[:, 1]))
                    print(
                        f"| {task} | {neighbors} | {tau:.3f} | {kind} | {exact:.4f} | "
                        f"{bound:.4f} | {held} of {options.runs} |",
                        flush=True,
                    )
        return
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

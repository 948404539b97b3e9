"""How many of the true features does each method keep?

    python benchmarks/recovery.py [seeds]

20,000 records, 200 features, epsilon 8, delta 1e-6, as many features kept as are true. Prints the
mean number of true features kept, by loss and neighbor relation.
"""

import sys
from collections.abc import Callable

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.data.synthetic import Task, sparse_glm
from sparsedp.losses import Logistic, Loss, Multinomial, Squared
from sparsedp.mechanisms import KeyStream, NoisyCurator
from sparsedp.privacy import NEIGHBORS, Budget, Neighbors, PublicFacts
from sparsedp.solvers import (
    ADMM,
    IGHT,
    FrankWolfe,
    GreedyCoordinateDescent,
    MultinomialLasso,
    NoisyGD,
    NoisyMinScreening,
    ObjectivePerturbation,
    Pursuit,
    Screened,
    ScreenedFrankWolfe,
    Solver,
    Sparsifier,
    TwoStage,
)

METHODS: dict[str, Callable[[], Solver]] = {
    "Pursuit()": Pursuit,
    "Sparsifier(FrankWolfe())": lambda: Sparsifier(FrankWolfe()),
    "Screened(FrankWolfe())": lambda: Screened(FrankWolfe()),
    "IGHT()": IGHT,
    "IGHT(n_steps=5, peeling=True)": lambda: IGHT(n_steps=5, peeling=True),
    "Sparsifier(NoisyGD())": lambda: Sparsifier(NoisyGD()),
    "Sparsifier(ObjectivePerturbation())": lambda: Sparsifier(ObjectivePerturbation()),
    "TwoStage()": TwoStage,
    "Sparsifier(ADMM())": lambda: Sparsifier(ADMM()),
    "Sparsifier(ADMM(penalty='l1/2'))": lambda: Sparsifier(ADMM(penalty="l1/2")),
    "NoisyMinScreening()": NoisyMinScreening,
    "Sparsifier(GreedyCoordinateDescent())": lambda: Sparsifier(GreedyCoordinateDescent()),
    "Sparsifier(MultinomialLasso(balls='per_class'))": lambda: Sparsifier(
        MultinomialLasso(balls="per_class")
    ),
    "ScreenedFrankWolfe()": ScreenedFrankWolfe,
}
LOSSES: dict[Task, Loss] = {
    "logistic": Logistic(),
    "linear": Squared(),
    "multinomial": Multinomial(3),
}


def kept(solver: Solver, task: Task, neighbors: Neighbors, seed: int) -> tuple[int, int]:
    """True features kept, and how many there are."""
    made = sparse_glm(20_000, 200, 10, task, seed=seed)
    if task == "linear":
        data = Dataset.clip(made.X, made.y, made.bounds, target_bounds=made.target_bounds)
    else:
        classes = (0, 1) if task == "logistic" else range(3)
        data = Dataset.clip(made.X, made.y, made.bounds, classes=classes)
    true = (made.weights.reshape(200, -1) != 0).any(axis=1)
    public = PublicFacts(
        n_features=200,
        n_nonzero=int(true.sum()),
        n_outputs=LOSSES[task].n_outputs,
        neighbors=neighbors,
        n_records=20_000 if neighbors == "replace_one" else None,
    )
    budget = Budget(solver.schedule(public), epsilon=8.0, delta=1e-6, neighbors=neighbors)
    curator = NoisyCurator(budget, public, KeyStream.from_seed(seed))
    weights = solver.solve(data, LOSSES[task], curator).weights
    curator.close()
    used = (weights[:200].reshape(200, -1) != 0).any(axis=1)
    return int((used & true).sum()), int(true.sum())


def main(n_seeds: int) -> None:
    """Print the table."""
    for name, make in METHODS.items():
        for task in LOSSES:
            cells = []
            for neighbors in NEIGHBORS:
                found = [kept(make(), task, neighbors, seed) for seed in range(n_seeds)]
                mean, total = np.mean(found, axis=0)
                cells.append(f"{neighbors} {mean:.1f} of {total:.1f}")
            print(f"{name:48s} {task:12s} {'   '.join(cells)}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)

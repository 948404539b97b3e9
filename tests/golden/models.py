"""Fit every solver once per loss with a fixed seed: ``python -m tests.golden.models`` writes them.

Run it only where a change of models is meant, and say in the commit which ones changed and why.
"""

import json
from pathlib import Path

import numpy as np

from tests.cases import BOUNDS, LOSSES, SOLVERS, estimator, random_table

FILE = Path(__file__).parent / "models.json"
SEED = 20261116
N_RECORDS = 120
VARIANTS = {"dense": ("dense", "add_remove"), "sparse": ("sparse", "replace_one")}
"""Layout and relation: both of each are seen, half of the combinations are enough."""


def cases() -> list[str]:
    """Names of all fits."""
    return [
        f"{solver}/{loss}/{variant}"
        for solver in SOLVERS
        for loss in LOSSES
        for variant in VARIANTS
    ]


def fitted(case: str) -> dict[str, object]:
    """Coefficients of one fit, or the first words of its refusal."""
    solver, loss, variant = case.split("/")
    layout, neighbors = VARIANTS[variant]
    table = random_table(loss, N_RECORDS, seed=SEED)
    settings = {
        "epsilon": 2.0,
        "delta": 1e-5,
        "bounds": BOUNDS,
        "n_nonzero": 3,
        "solver": SOLVERS[solver],
    }
    settings |= {"neighbors": neighbors, "random_state": SEED}
    model = estimator(loss, **settings)
    try:
        model.fit(table.features(layout), table.y)
    except ValueError:
        return {"refused": True}
    return {
        "coef": np.ravel(model.coef_).tolist(),
        "intercept": np.ravel(model.intercept_).tolist(),
        "epsilon": model.privacy_.epsilon,
    }


def main() -> None:
    """Write the file."""
    FILE.write_text(json.dumps({case: fitted(case) for case in cases()}, indent=0) + "\n")


if __name__ == "__main__":
    main()

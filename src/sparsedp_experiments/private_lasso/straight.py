"""What bending features costs where the truth is linear: the synthetic set of Figure 4.

``python -m sparsedp_experiments.private_lasso.straight`` prints a table: the test error of the
default, ``shapes="auto"``, which lets numbers bend, and of ``shapes="linear"``, mean of five seeds.
"""

import warnings

import numpy as np

from sparsedp import Bounds, SparseLogisticRegression
from sparsedp_experiments.framework.data import Data
from sparsedp_experiments.framework.registry import chosen
from sparsedp_experiments.framework.table import markdown, mean_error
from sparsedp_experiments.private_lasso import sets

SEEDS = range(5)


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")  # seeded fits say that they are not private
    settings = chosen(("private-lasso/figure1",))[0].settings().merged
    ready = sets.prepared("synthetic", settings, Data(), validation=True)
    lines = []
    for shapes in ("auto", "linear"):
        cells = []
        for epsilon in settings["epsilons"]:
            errors = []
            for seed in SEEDS:
                model = SparseLogisticRegression(
                    epsilon=epsilon,
                    delta=ready.delta,
                    bounds=Bounds.symmetric(1.0),
                    n_nonzero=settings["n_nonzero"],
                    shapes=shapes,
                    classes=[0, 1],
                    random_state=seed,
                ).fit(*ready.train)
                errors.append(1 - ready.scores(model)["accuracy"])
            cells.append(mean_error(np.array(errors), 4))
        lines.append([f'`shapes="{shapes}"`', *cells])
    print(markdown(["error", *(f"ε = {e:g}" for e in settings["epsilons"])], lines), end="")


if __name__ == "__main__":
    main()

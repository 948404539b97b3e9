"""Write model files as this version writes them: ``python -m tests.data.write_models FOLDER``.

Run once for every released version; its files then stay as they are. Between them they have every
kind of release, every loss and both neighbor relations. ``expected.json`` beside them says what the
version itself predicted and counted.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np

from sparsedp import Bounds, PrivateSearchCV, SparseLinearRegression, SparseLogisticRegression
from sparsedp.release import PublishedModel
from sparsedp.solvers import (
    ADMM,
    IGHT,
    FrankWolfe,
    MultinomialLasso,
    NoisyGD,
    ObjectivePerturbation,
    Pursuit,
    Sparsifier,
    TwoStage,
)

N_FEATURES = 4
BOUNDS = Bounds(lower=-1.0, upper=1.0)
CLASSES = {"logistic": (0, 1), "multinomial": ("a", "b", "c"), "squared": None}
VOTES = TwoStage(
    n_nonzero=2,
    n_blocks=5,
    solver=ObjectivePerturbation(calibration="published"),
    calibration="published",
)
COUNT = Sparsifier(FrankWolfe(n_steps=6), n_nonzero="count", count_solver=FrankWolfe(n_steps=6))

CASES = {
    "selections": ("logistic", {"solver": FrankWolfe(n_steps=6)}),
    "selections_multinomial": ("multinomial", {"solver": MultinomialLasso(n_steps=4)}),
    "selections_gaussians": ("squared", {"solver": Pursuit()}),
    "count": ("logistic", {"solver": COUNT}),
    "gaussians": ("squared", {"solver": NoisyGD(n_steps=4), "neighbors": "replace_one"}),
    "minimum": ("logistic", {"solver": ObjectivePerturbation(), "epsilon": 6.0}),
    "minimum_multinomial": ("multinomial", {"solver": ObjectivePerturbation()}),
    "minimum_squared": (
        "squared",
        {"solver": ObjectivePerturbation(l1=0.1), "neighbors": "replace_one", "random_state": 1},
    ),
    "pure_minima": ("logistic", {"solver": ADMM(n_steps=2, noise="pure")}),
    "laplace_selections": (
        "logistic",
        {"solver": FrankWolfe(n_steps=6, calibration="published")},
    ),
    "gaussian_releases": (
        "squared",
        {"solver": IGHT(n_steps=3, calibration="published"), "neighbors": "replace_one"},
    ),
    "gaussian_releases_unproven": (
        "logistic",
        {"solver": NoisyGD(n_steps=3, calibration="published")},
    ),
    "laplace_votes": ("logistic", {"solver": VOTES}),
    "without_noise": ("squared", {"epsilon": float("inf")}),
    "search": ("logistic", {}),
}
"""Name of a file: the loss, and settings that differ from the common ones."""


def records(loss: str) -> tuple[np.ndarray, np.ndarray]:
    """A few records to fit to."""
    random = np.random.default_rng(7)
    X = random.uniform(-1, 1, size=(400, N_FEATURES))
    margins = 3 * X[:, 0] - 2 * X[:, 1]
    if loss == "squared":
        return X, np.clip(margins, -2, 2)
    if loss == "logistic":
        return X, (margins > 0).astype(int)
    return X, np.array(CLASSES[loss])[np.digitize(margins, [-1, 1])]


def points() -> np.ndarray:
    """Where predictions are compared; some lie beyond the bounds."""
    return np.random.default_rng(8).uniform(-1.5, 1.5, size=(6, N_FEATURES))


def fitted(name: str) -> PublishedModel:
    """Fit one case."""
    loss, changes = CASES[name]
    settings = {"epsilon": 1.0, "delta": 1e-6, "bounds": BOUNDS, "n_nonzero": 2, **changes}
    if loss == "squared":
        model = SparseLinearRegression(target_bounds=(-2.0, 2.0), **settings)
    else:
        model = SparseLogisticRegression(classes=CLASSES[loss], **settings)
    if name == "search":
        grid = {"solver": [FrankWolfe(n_steps=n) for n in (4, 8)]}
        search = PrivateSearchCV(model, grid, epsilon=1.0, delta=1e-6)
        model = search.fit(*records(loss)).best_estimator_
    else:
        model.fit(*records(loss))
    return PublishedModel.from_estimator(
        model, feature_names=["age", "dose", "weight", "height"], target_name="outcome"
    )


def main(folder: Path) -> None:
    """Write all cases and what to expect of them."""
    expected = {}
    for name in CASES:
        model = fitted(name)
        model.save(folder / name)
        (folder / name / "model.json").rename(folder / f"{name}.json")
        (folder / name).rmdir()
        expected[name] = {
            "margins": model.decision_function(points()).tolist(),
            "proven_epsilon": model.privacy["proven_epsilon"],
        }
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]))

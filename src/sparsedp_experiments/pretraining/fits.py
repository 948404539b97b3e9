"""The sets and fits of all experiments of Hoseinpour et al. (2023)."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from sparsedp import Bounds
from sparsedp.data.synthetic import hoseinpour
from sparsedp.estimators import fit_public_model
from sparsedp.solvers import NoisyGD, Pursuit
from sparsedp_experiments.framework.figure import COLORS
from sparsedp_experiments.framework.fit import Gated, fitted, gated

HEART_LOWER = [0, 0, 1, 80, 80, 0, 0, 60, 0, -3, 1, 0, 3]
HEART_UPPER = [120, 1, 4, 220, 620, 1, 2, 220, 1, 7, 3, 3, 7]
"""Age, sex, chest pain type, resting blood pressure, cholesterol, fasting blood sugar, resting
electrocardiogram, largest heart rate, angina by exercise, ST depression, ST slope, colored vessels,
thallium scan: codes of the data's description, and limits that a physician would give."""
TWO = [2, 7]
"""Chest pain type and largest heart rate: of the pairs of features tried with all 920 patients the
one whose best accuracy, 0.77, is nearest to the paper's 0.78."""
SETS = {
    "two-features": "synthetic: two features, 400 + 400 records",
    "heart-400": "two features of 400 + 400 heart patients",
    "heart": "13 features, Hungary public, Cleveland private",
}
METHODS = ("as printed", "without 1/n", "proven", "sound", "Pursuit")
LABELS = {
    "as printed": "NoisyGD, published",
    "without 1/n": "NoisyGD, published noise not over n",
    "proven": "NoisyGD, proven",
    "sound": "NoisyGD, adapted steps",
    "Pursuit": "Pursuit",
}
KINDS = {"as printed": "published", "proven": "proven", "sound": "sound", "Pursuit": "pursuit"}


@dataclass(frozen=True, eq=False)
class Split:
    """One draw of a set: the private records behind the gate, and what is compared with them."""

    private: Gated
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    bounds: Bounds
    public_model: Any

    def accuracy(self, model: Any) -> dict[str, float]:
        """On the private records themselves, as in the paper, and on others."""
        return {
            "training_accuracy": 100 * float(np.mean(model.predict(self.X) == self.y)),
            "test_accuracy": 100 * float(np.mean(model.predict(self.X_test) == self.y_test)),
        }

    @property
    def majority(self) -> float:
        """Training accuracy of the larger class, in percent."""
        positive = float(np.mean(self.y))
        return 100 * max(positive, 1 - positive)


def color(method: str) -> str:
    """Of its kind; what was only tried has one of its own."""
    return "#e69f00" if method == "without 1/n" else COLORS[KINDS[method]]


def split(name: str, settings: dict[str, Any], data: Any, repetition: int) -> Split:
    """A draw of a set, the same for all fits of a repetition."""
    return data.kept(("split", name, repetition), lambda: _split(name, settings, data, repetition))


def _split(name: str, settings: dict[str, Any], data: Any, repetition: int) -> Split:
    seed = [settings["data_seed"], repetition]
    if name == "two-features":
        drawn = hoseinpour(seed=seed)
        test = hoseinpour(n_private=10_000, n_public=1, seed=[*seed, 1]).private
        parts = [(part.X, part.y) for part in (drawn.public, drawn.private, test)]
        bounds = drawn.private.bounds
    elif name == "heart-400":
        X, y = data.load("heart_uci")
        X, order = X[:, TWO], np.random.default_rng(seed).permutation(len(y))
        rows = (order[:400], order[400:800], order[800:])
        parts = [(X[part], y[part]) for part in rows]
        bounds = Bounds([HEART_LOWER[j] for j in TWO], [HEART_UPPER[j] for j in TWO])
    else:
        X, y = data.load("heart_cleveland")
        X, X_test, y, y_test = train_test_split(
            X, y, test_size=0.3, random_state=repetition, stratify=y
        )
        parts = [data.load("heart_hungarian"), (X, y), (X_test, y_test)]
        bounds = Bounds(HEART_LOWER, HEART_UPPER)
    public, private, test = parts
    return Split(
        gated(private[0], private[1], bounds),
        *private,
        *test,
        bounds=bounds,
        public_model=fit_public_model(*public, bounds=bounds),
    )


def solver(method: str, settings: dict[str, Any]) -> Any:
    """The solver behind a method's name."""
    if method == "Pursuit":
        return Pursuit()
    if method == "sound":
        return NoisyGD(n_steps=settings["n_steps"])
    return NoisyGD(
        n_steps=settings["n_steps"],
        step_size=settings["step_size"],
        clip=settings["clip"],
        calibration="proven" if method == "proven" else "published",
    )


def model(
    method: str, start: str, epsilon: float, records: Split, settings: dict[str, Any], seed: Any
) -> Any:
    """A fitted estimator, from zero or from the public model."""
    return fitted(
        records.private,
        solver(method, settings),
        epsilon=effective(method, epsilon, records.private.n_records),
        delta=settings["delta"],
        seed=seed,
        n_nonzero=records.private.data.n_features if records.private.data.n_features < 5 else None,
        neighbors="replace_one",
        initial_model=records.public_model if start == "public" else None,
    )


def effective(method: str, epsilon: float, n_records: int) -> float:
    """The epsilon to give to the solver: noise that is not divided by n is that of epsilon / n."""
    return epsilon / n_records if method == "without 1/n" else epsilon


def noise_scale(epsilon: float, n_records: int, settings: dict[str, Any]) -> float:
    """The printed standard deviation of the noise in every step, on the mean gradient."""
    factor = math.sqrt(2 * math.log(1.25 / settings["delta"]))
    return 2 * settings["clip"] * factor / (n_records * epsilon)

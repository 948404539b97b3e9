"""Small published models for reports: by unit of protection and neighbors, with all extras."""

from functools import cache
from typing import Any

import numpy as np

from sparsedp import Schema, SparseLinearRegression, SparseLogisticRegression
from sparsedp.release import PublishedModel

UNITS = ("row", "person")
NEIGHBORS = ("add_remove", "replace_one")
N, D = 3011, 4


def table(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features, and the margin of the target."""
    random = np.random.default_rng(seed)
    X = random.uniform(-1, 1, (N, D))
    return X, 2 * X[:, 0] - X[:, 1] + random.logistic(size=N)


@cache
def binary(unit: str = "row", neighbors: str = "add_remove", **how: Any) -> PublishedModel:
    """Held-out scores, and intervals of features that one half chose."""
    X, margin = table()
    usual = {"epsilon": 4.0, "delta": 1e-6, "holdout": 0.5, "intervals": True, "n_nonzero": 2}
    usual |= {"bounds": (-1, 1), "classes": ("no", "yes"), "neighbors": neighbors}
    fitted = SparseLogisticRegression(**{**usual, **how}).fit(
        X, np.where(margin > 0, "yes", "no"), groups=groups(unit)
    )
    return PublishedModel.from_estimator(fitted)


@cache
def multinomial() -> PublishedModel:
    """Three classes, scores and no intervals."""
    X, margin = table()
    y = np.array(["low", "middle", "high"])[np.digitize(margin, [-1, 1])]
    fitted = SparseLogisticRegression(
        epsilon=4.0, delta=1e-6, bounds=(-1, 1), classes=("low", "middle", "high"), holdout=0.5
    ).fit(X, y)
    return PublishedModel.from_estimator(fitted)


@cache
def linear() -> PublishedModel:
    """A number, and neither scores nor intervals."""
    X, margin = table()
    fitted = SparseLinearRegression(
        epsilon=1.0, delta=1e-6, bounds=(-1, 1), target_bounds=(-8, 8), n_nonzero=2
    ).fit(X, margin)
    return PublishedModel.from_estimator(fitted)


@cache
def wide() -> PublishedModel:
    """More features than have bars."""
    X = np.random.default_rng(0).random((500, 60))
    fitted = SparseLogisticRegression(
        epsilon=1.0, delta=1e-6, bounds=(0, 1), classes=(0, 1), solver="noisy_gd", n_nonzero=60
    ).fit(X, (X[:, 0] > 0.5).astype(int))
    return PublishedModel.from_estimator(fitted)


@cache
def with_schema(*sources: str | None) -> PublishedModel:
    """A column for each source; None declares none."""
    X, margin = table()
    names = [f"c{j}" for j in range(len(sources))]
    limits = {"lower": -1, "upper": 1}
    schema = Schema(
        features={
            name: limits if source is None else {**limits, "source": source}
            for name, source in zip(names, sources, strict=True)
        },
        unit="row",
    )
    fitted = SparseLogisticRegression(
        epsilon=1.0, delta=1e-6, schema=schema, classes=("no", "yes")
    ).fit(dict(zip(names, X.T, strict=False)), np.where(margin > 0, "yes", "no"))
    return PublishedModel.from_estimator(fitted)


def groups(unit: str) -> np.ndarray | None:
    """Two rows a person."""
    return None if unit == "row" else np.arange(N) // 2

"""The data sets of Khanna et al. (2024): parts, scaling, and the records behind the gate."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from sparsedp import Bounds
from sparsedp.data.synthetic import wang_zhang
from sparsedp.solvers.lasso.lasso import Lasso
from sparsedp_experiments.framework.data import Data
from sparsedp_experiments.framework.fit import Gated, fitted, gated

SURROGATES = {"gisette": ("gisette", "gisette_like")}
"""A set, and what stands in for it where it is not to be had."""

AS_DOWNLOADED = {"phishing_rows": "phishing", "splice_scale": "splice"}
"""Variants that fit the paper's numbers better: LIBSVM's own scaling, not that of its Section 3."""

Part = tuple[Any, np.ndarray]


@dataclass(frozen=True)
class Prepared:
    """A set that is scaled as in the paper, ready to be fitted again and again."""

    source: str
    train: Part
    test: Part
    validation: Part | None = None
    unit_rows: bool = False

    @property
    def n_features(self) -> int:
        """Columns."""
        return self.train[0].shape[1]

    @property
    def delta(self) -> float:
        """As in the paper."""
        return 1 / len(self.train[1])

    @property
    def usual_count(self) -> int:
        """The middle of the range that the paper clips its count to, sqrt(p) to 2 sqrt(p)."""
        return max(1, round(1.5 * np.sqrt(self.n_features)))

    @cached_property
    def box(self) -> Gated:
        """The paper's setting: |x| <= 1, no intercept."""
        return gated(*self.train, Bounds.symmetric(1.0), fit_intercept=False)

    @cached_property
    def rows(self) -> Gated:
        """The same for methods that work with the norm of rows, where that is one."""
        if not self.unit_rows:
            return self.box
        return gated(*self.train, Bounds.symmetric(1.0, row_norm=1.0), fit_intercept=False)

    @cached_property
    def natural(self) -> Gated:
        """As one would declare the same data today: the sign of features, and an intercept."""
        X = self.train[0]
        smallest = X.min(axis=0)
        smallest = smallest.toarray().ravel() if sparse.issparse(smallest) else smallest
        return gated(*self.train, Bounds(np.where(smallest < 0, -1.0, 0.0), 1.0))

    def optimum(self, radius: float) -> Any:
        """The model without privacy that the paper's many Frank-Wolfe steps approach."""
        return fitted(
            self.box,
            Lasso(radius=radius),
            epsilon=np.inf,
            delta=self.delta,
            seed=np.random.SeedSequence(0),
        )

    def scores(self, model: Any, part: Part | None = None) -> dict[str, float]:
        """Accuracy and area under the ROC curve, on the test part unless said otherwise."""
        X, y = part or self.test
        margins = model.decision_function(X)
        return {
            "accuracy": float(np.mean((margins > 0) == (y == 1))),
            "auc": float(roc_auc_score(y, margins)),
        }

    def majority(self) -> float:
        """Accuracy of the best constant, chosen on the training part."""
        return float(np.mean(self.test[1] == (np.mean(self.train[1]) > 0.5)))


def prepared(name: str, settings: dict[str, Any], data: Data, validation: bool = False) -> Prepared:
    """Load, split and scale a set, once per process."""
    return data.kept(
        ("prepared", name, validation), lambda: _prepare(name, settings, data, validation)
    )


def _prepare(name: str, settings: dict[str, Any], data: Data, validation: bool) -> Prepared:
    rng = np.random.default_rng(settings["split_seed"])
    source = name
    if name == "synthetic":
        train, test = _synthetic(settings, validation)
    elif name == "kddcup99":
        train, test = _connections(data, settings, rng)
    elif name in AS_DOWNLOADED:
        source = AS_DOWNLOADED[name]
        split = "all" if data.has_test(source) else "train"
        train, test = _cut(data.load(source, split), settings["test_part"], rng)
        if name == "splice_scale":  # LIBSVM's file of that name has features from -1 to 1
            lower, upper = train[0].min(axis=0), train[0].max(axis=0)
            width = np.where(upper > lower, upper - lower, 1)
            train, test = ((2 * (X - lower) / width - 1, y) for X, y in (train, test))
        return Prepared(source, train, test)
    else:
        source = data.first(*SURROGATES.get(name, (name,)))
        if data.has_test(source):
            train, test = data.load(source), data.load(source, "test")
        else:
            train, test = _cut(data.load(source), settings["test_part"], rng)
    held_out = None
    if validation:
        train, held_out = _cut(train, settings["validation_part"], rng)
    parts = [train, test] if held_out is None else [train, test, held_out]
    unit_rows = name == "kddcup99"
    parts = [(X, y) for X, y in _scaled(parts, unit_rows)]
    return Prepared(source, parts[0], parts[1], parts[2] if validation else None, unit_rows)


def _synthetic(settings: dict[str, Any], validation: bool) -> tuple[Part, Part]:
    """The paper's records; the test part are further ones of the same kind."""
    n = settings["synthetic_records"]
    made = wang_zhang(2 * n, seed=settings["split_seed"])
    first, second = (made.X[:n], made.y[:n]), (made.X[n:], made.y[n:])
    if validation:
        return first, second
    # The tables have no validation part: keep the size of the training part of the figures.
    kept = round(n * (1 - settings["test_part"]))
    return (first[0][:kept], first[1][:kept]), (first[0][kept:], first[1][kept:])


def _connections(data: Data, settings: dict[str, Any], rng: Any) -> tuple[Part, Part]:
    """Network connections, so many of each label; the test part has others in equal shares."""
    X, y = data.load("kddcup99_dos")
    chosen = {}
    for label, n_train in ((1, settings["kdd_positive"]), (0, settings["kdd_negative"])):
        shuffled = rng.permutation(np.flatnonzero(y == label))
        n_test = round(n_train * settings["kdd_test_ratio"])
        chosen[label] = shuffled[:n_train], shuffled[n_train : n_train + n_test]
    train, test = (
        rng.permutation(np.concatenate([chosen[0][part], chosen[1][part]])) for part in (0, 1)
    )
    X = sparse.csr_array(X)
    return (X[train], y[train]), (X[test], y[test])


def named(name: str, rows: list[dict[str, Any]]) -> str:
    """The set, and what stands in for it."""
    source = rows[0]["source"]
    return f"{name} (surrogate: {source})" if source.endswith("_like") else name


def _cut(part: Part, share: float, rng: Any) -> tuple[Part, Part]:
    X, y = part
    first, second = train_test_split(
        np.arange(len(y)), test_size=share, stratify=y, random_state=int(rng.integers(2**31))
    )
    return (X[first], y[first]), (X[second], y[second])


def _scaled(parts: list[Part], unit_rows: bool) -> list[Part]:
    """Divide features by their largest absolute value in the training part, then perhaps rows."""
    largest = abs(parts[0][0]).max(axis=0)
    largest = largest.toarray().ravel() if sparse.issparse(largest) else np.asarray(largest)
    factors = 1 / np.where(largest > 0, largest, 1)
    scaled = []
    for X, y in parts:
        if sparse.issparse(X):
            X = sparse.csr_array(sparse.csr_array(X) @ sparse.diags_array(factors))
            norms = np.sqrt(X.multiply(X).sum(axis=1))
        else:
            X = X * factors
            norms = np.linalg.norm(X, axis=1)
        if unit_rows:
            shrink = 1 / np.where(norms > 0, norms, 1)
            X = (
                sparse.csr_array(sparse.diags_array(shrink) @ X)
                if sparse.issparse(X)
                else (X * shrink[:, None])
            )
        scaled.append((X, y))
    return scaled

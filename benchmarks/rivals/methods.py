"""The methods that are compared: each maps a split, a budget and a seed to predictions.

Imports are where they are used: every rival has its own environment, and none of them is ours.
"""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from benchmarks.rivals.categories import blocks, joined
from benchmarks.rivals.rows import unit_rows, unit_target
from benchmarks.rivals.sgd import dp_sgd, noise_multiplier
from scipy import sparse
from scipy.special import expit

WIDEST = 1000  # columns for methods that take the square of it


@dataclass(frozen=True)
class Predicted:
    """Of the test part: what ranks, and the probability or the number itself."""

    score: np.ndarray
    value: np.ndarray


@dataclass(frozen=True)
class Request:
    """One fit."""

    epsilon: float
    seed: int
    cache: Path
    settings: dict


def is_regression(part):
    """Whether the target is a number."""
    return part.table.target_bounds is not None


def ours(part, request, solver=None):
    """The library with its defaults, or with another solver by name."""
    from sparsedp import Bounds, SparseLinearRegression, SparseLogisticRegression

    made = part.table
    common = {
        "epsilon": request.epsilon,
        "delta": part.delta,
        "bounds": Bounds(made.lower, made.upper, row_norm=made.row_norm),
        "random_state": request.seed,
        **({"solver": solver} if solver else {}),
        **request.settings,
    }
    if is_regression(part):
        model = SparseLinearRegression(target_bounds=made.target_bounds, **common)
        found = model.fit(part.X, part.y).predict(part.X_test)
        return Predicted(found, found)
    model = SparseLogisticRegression(classes=[0, 1], **common).fit(part.X, part.y)
    return Predicted(model.decision_function(part.X_test), model.predict_proba(part.X_test)[:, 1])


def sufficient_statistics(part, request, solver):
    """AdaSSP or BoostedAdaSSP of the library, on rows of norm 1; for classes on -1 and 1."""
    from sparsedp import Bounds, SparseLinearRegression

    y, back = unit_target(part)
    model = SparseLinearRegression(
        epsilon=request.epsilon,
        delta=part.delta,
        bounds=Bounds(-1.0, 1.0, row_norm=1.0),
        target_bounds=(-1.0, 1.0),
        fit_intercept=False,  # the rows have a constant
        solver=solver,
        random_state=request.seed,
    ).fit(unit_rows(part.table, part.X), y)
    score = unit_rows(part.table, part.X_test) @ model.coef_
    value = back(score)
    return Predicted(score, value if is_regression(part) else np.clip(value, 0.002, 0.998))


def stochastic_gradient(part, request):
    """DP-SGD."""
    y, back = unit_target(part)
    memory = request.cache / "noise-multipliers.json"
    loss = "squared" if is_regression(part) else "logistic"
    sigma = noise_multiplier(request.epsilon, part.delta, memory)
    rng = np.random.default_rng(request.seed)
    w = dp_sgd(unit_rows(part.table, part.X), y, loss=loss, sigma=sigma, rng=rng)
    score = unit_rows(part.table, part.X_test) @ w
    return Predicted(score, back(score) if is_regression(part) else expit(score))


def types(X):
    """Of columns, for EBM: indicators are categories, which at small budgets serves it better."""
    return ["nominal" if len(np.unique(column)) <= 2 else "continuous" for column in X.T]


def with_categories(part):
    """The same split with one column for each category, and the types of columns."""
    found = blocks(part.table.X)
    if not found:
        raise NotImplementedError("no indicators to join")
    low, high = (joined(limit[None, :], found)[0] for limit in (part.table.lower, part.table.upper))
    high[len(high) - len(found) :] = [len(block) for block in found]
    made = replace(part.table, X=joined(part.table.X, found), lower=low, upper=high)
    kinds = types(made.X)
    kinds[len(kinds) - len(found) :] = ["nominal"] * len(found)
    train, test = joined(part.X, found), joined(part.X_test, found)
    return replace(part, table=made, X=train, X_test=test), kinds


def private_ebm(part, request, learning_rate, categories=False):
    """DP-EBM with what its authors recommend to declare: types, bounds, and those of the target."""
    from interpret.privacy import (
        DPExplainableBoostingClassifier,
        DPExplainableBoostingRegressor,
    )

    part, kinds = with_categories(part) if categories else (part, types(part.table.X))
    made = part.table
    common = {
        "epsilon": request.epsilon,
        "delta": part.delta,
        "learning_rate": learning_rate,
        "feature_types": kinds,
        "privacy_bounds": np.column_stack([made.lower, made.upper]),
        "random_state": request.seed,
        "n_jobs": 1,
    }
    if is_regression(part):
        low, high = made.target_bounds
        model = DPExplainableBoostingRegressor(
            privacy_target_min=low, privacy_target_max=high, **common
        )
        found = np.clip(model.fit(part.X, part.y).predict(part.X_test), low, high)
        return Predicted(found, found)
    model = DPExplainableBoostingClassifier(**common).fit(part.X, part.y)
    return Predicted(model.decision_function(part.X_test), model.predict_proba(part.X_test)[:, 1])


def exact_ebm(part, request):
    """EBM without privacy: main effects only, as every private model here has."""
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    common = {"interactions": 0, "outer_bags": 4, "n_jobs": 1, "random_state": request.seed}
    common["feature_types"] = types(part.table.X)
    if is_regression(part):
        model = ExplainableBoostingRegressor(**common)
        found = model.fit(part.X, part.y).predict(part.X_test)
        return Predicted(found, found)
    model = ExplainableBoostingClassifier(**common).fit(part.X, part.y)
    return Predicted(model.decision_function(part.X_test), model.predict_proba(part.X_test)[:, 1])


def diffprivlib(part, request):
    """Objective perturbation for classes, the functional mechanism for numbers; delta is zero."""
    from diffprivlib.models import LinearRegression, LogisticRegression

    if is_regression(part):
        made = part.table
        model = LinearRegression(
            epsilon=request.epsilon,
            bounds_X=(made.lower, made.upper),
            bounds_y=made.target_bounds,
            random_state=request.seed,
        )
        found = np.clip(model.fit(part.X, part.y).predict(part.X_test), *made.target_bounds)
        return Predicted(found, found)
    rows, test = unit_rows(part.table, part.X), unit_rows(part.table, part.X_test)
    if sparse.issparse(rows):
        raise NotImplementedError("diffprivlib takes no sparse matrices")
    model = LogisticRegression(
        epsilon=request.epsilon, data_norm=1.0, fit_intercept=False, random_state=request.seed
    )
    model.fit(rows, part.y)
    return Predicted(model.decision_function(test), model.predict_proba(test)[:, 1])


def null(part, request):
    """The mean of the training part."""
    found = np.full(len(part.y_test), part.y.mean())
    return Predicted(found, found)


METHODS = {
    "ours": ours,
    "noisy_gd": partial(ours, solver="noisy_gd"),
    "objective_perturbation": partial(ours, solver="objective_perturbation"),
    "dp_ebm": partial(private_ebm, learning_rate=0.01),
    "dp_ebm_fast": partial(private_ebm, learning_rate=0.1),
    "dp_ebm_joined": partial(private_ebm, learning_rate=0.01, categories=True),
    "dp_ebm_joined_fast": partial(private_ebm, learning_rate=0.1, categories=True),
    "adassp": partial(sufficient_statistics, solver="ada_ssp"),
    "boosted_adassp": partial(sufficient_statistics, solver="boosted_ada_ssp"),
    "dp_sgd": stochastic_gradient,
    "diffprivlib": diffprivlib,
    "ebm": exact_ebm,
    "null": null,
}
WITHOUT_PRIVACY = ("ebm", "null")
SQUARE = ("dp_ebm", "dp_ebm_fast", "adassp", "boosted_adassp", "diffprivlib", "ebm")

"""The methods that are compared: each maps a split, a budget and a seed to predictions.

Imports are where they are used: every rival has its own environment, and none of them is ours.
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from benchmarks.rivals.rows import unit_rows, unit_target
from benchmarks.rivals.sgd import dp_sgd, noise_multiplier
from benchmarks.rivals.ssp import ada_ssp
from scipy import sparse
from scipy.special import expit

ROUNDS = 100  # of BoostedAdaSSP, as its authors have it
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


def sufficient_statistics(part, request, rounds):
    """AdaSSP or BoostedAdaSSP; for classes the regression on -1 and 1."""
    rng = np.random.default_rng(request.seed)
    y, back = unit_target(part)
    Z = unit_rows(part.table, part.X)
    w = ada_ssp(Z, y, epsilon=request.epsilon, delta=part.delta, rng=rng, rounds=rounds)
    score = unit_rows(part.table, part.X_test) @ w
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


def types(part):
    """Of columns, for EBM: indicators are categories, which at small budgets serves it better."""
    two_valued = [len(np.unique(column)) <= 2 for column in part.table.X.T]
    return ["nominal" if few else "continuous" for few in two_valued]


def private_ebm(part, request, learning_rate):
    """DP-EBM with what its authors recommend to declare: types, bounds, and those of the target."""
    from interpret.privacy import (
        DPExplainableBoostingClassifier,
        DPExplainableBoostingRegressor,
    )

    made = part.table
    common = {
        "epsilon": request.epsilon,
        "delta": part.delta,
        "learning_rate": learning_rate,
        "feature_types": types(part),
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
    if is_regression(part):
        model = ExplainableBoostingRegressor(feature_types=types(part), **common)
        found = model.fit(part.X, part.y).predict(part.X_test)
        return Predicted(found, found)
    model = ExplainableBoostingClassifier(feature_types=types(part), **common).fit(part.X, part.y)
    return Predicted(model.decision_function(part.X_test), model.predict_proba(part.X_test)[:, 1])


def diffprivlib(part, request):
    """Objective perturbation for classes, the functional mechanism for numbers; delta is zero."""
    from diffprivlib.models import LinearRegression, LogisticRegression

    rows, test = unit_rows(part.table, part.X), unit_rows(part.table, part.X_test)
    if sparse.issparse(rows):
        raise NotImplementedError("diffprivlib takes no sparse matrices")
    if is_regression(part):
        y, back = unit_target(part)
        model = LinearRegression(
            epsilon=request.epsilon,
            bounds_X=(-1, 1),
            bounds_y=(-1, 1),
            fit_intercept=False,
            random_state=request.seed,
        )
        found = back(model.fit(rows, y).predict(test))
        return Predicted(found, found)
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
    "adassp": partial(sufficient_statistics, rounds=1),
    "boosted_adassp": partial(sufficient_statistics, rounds=ROUNDS),
    "dp_sgd": stochastic_gradient,
    "diffprivlib": diffprivlib,
    "ebm": exact_ebm,
    "null": null,
}
WITHOUT_PRIVACY = ("ebm", "null")
SQUARE = ("dp_ebm", "dp_ebm_fast", "adassp", "boosted_adassp", "diffprivlib", "ebm")

"""Models with an effect on every column of a schema of all kinds, and records to try them on."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import numpy as np

from sparsedp import (
    Schema,
    SparseLinearRegression,
    SparseLogisticRegression,
    SparsePoissonRegressor,
)
from sparsedp.release import Feature, PublishedModel
from sparsedp.release.pair import Pair

SCHEMA = """
[interactions]
pairs = [["age", "sex"], ["visits", "site"]]
[features.age]
lower = 0
upper = 120
missing = "indicator"
[features.visits]
kind = "whole"
lower = 0
upper = 50
transform = "log1p"
missing = 3
[features.dose]
lower = 0
upper = 9
transform = "sqrt"
missing = "indicator"
[features.pressure]
bins = [90, 120, 140]
missing = "indicator"
[features.weight]
knots = [40, 60, 80, 120]
missing = 70
[features.flag]
lower = 0
upper = 1
binary = true
missing = 0
[features.sex]
categories = ["F", "M"]
missing = "none"
[features.site]
categories = ["north", "it's", "Süd", "7"]
other = true
missing = "indicator"
[features.stage]
categories = [1, 2, 3]
reference = 2
missing = 2
fold_case = true
[features.smoker]
kind = "yes_no"
missing = "no"
[features.hour]
kind = "cyclic"
period = 24
missing = "indicator"
[features.seen]
kind = "date"
lower = 2000-01-01
upper = 2030-12-31
parts = ["days", "year", "month", "weekday", "day_of_year"]
missing = "indicator"
"""

KINDS = {
    "age": "number",
    "visits": "number",
    "dose": "number",
    "pressure": "number",
    "weight": "number",
    "flag": "number",
    "sex": "text",
    "site": "text",
    "stage": "text",
    "smoker": "text",
    "hour": "number",
    "seen": "date",
}
"""How typed tables hold the columns."""

CLASSES = {"binary": (0, 1), "multinomial": ("low", "mid'dle", "high")}


ALONE = 1
"""A column that does something only together with another one."""


def records(n: int, seed: int) -> list[dict[str, Any]]:
    """Valid cells of all kinds, at and beyond limits, a fifth of them missing."""
    rng = np.random.default_rng(seed)

    def cell(name: str) -> float | str | None:
        if rng.random() < 0.2:
            return None
        if name == "seen":
            return (date(1890, 1, 1) + timedelta(days=int(rng.integers(70_000)))).isoformat()
        if name == "visits":
            return float(rng.integers(-3, 60))
        if name == "flag":
            return float(rng.integers(2))
        if name in ("age", "dose", "pressure", "weight", "hour"):
            return float(rng.choice([rng.normal(60, 60), *(0, 1, 9, 40, 60, 90, 120, 140)]))
        texts = {
            "sex": ["F", "M", " M "],
            "site": ["north", "it's", "Süd", "7", "elsewhere", "NA"],
            "stage": ["1", "2", "3", "3.0"],
            "smoker": ["Yes", "no", "Y", "t", "0", "TRUE", "n"],
        }[name]
        return str(rng.choice(texts))

    return [{name: cell(name) for name in KINDS} for _ in range(n)]


def with_effects(model: PublishedModel, seed: int) -> PublishedModel:
    """The same with an effect of every column, every third one bent; a few interact."""
    rng = np.random.default_rng(seed)
    schema = model.schema
    assert schema is not None
    n_outputs = len(model.intercept)
    lowest, highest = (np.asarray(limit) for limit in (schema.bounds.lower, schema.bounds.upper))
    features = []
    for j, name in enumerate(schema.feature_names):
        lower, upper = float(lowest[j]), float(highest[j])
        width = upper - lower
        coef = tuple((rng.normal(size=n_outputs) * (j != ALONE) / width).tolist())
        feature = Feature(index=j, name=name, lower=lower, upper=upper, coef=coef)
        if j % 3 == 0:
            inner = np.sort(rng.uniform(lower, upper, 3)).tolist()
            bends = np.zeros((n_outputs, 5))
            bends[:, 1:-1] = rng.normal(size=(n_outputs, 3))
            low, high = lower + 0.01 * width, upper - 0.01 * width
            knots = (low, *np.clip(inner, lower + 0.02 * width, upper - 0.02 * width), high)
            feature = replace(
                feature,
                lower=low,
                upper=high,
                knots=tuple(map(float, knots)),
                bends=tuple(map(tuple, bends.tolist())),
            )
        features.append(feature)
    last = len(features) - 1
    pairs = tuple(
        Pair(features=both, weights=tuple(rng.normal(size=n_outputs).tolist()))
        for both in ((0, 3), (ALONE, 6), (2, last), (last - 1, last))
    )
    model = replace(
        model, features=tuple(features), interactions=pairs, intercept=(0.0,) * n_outputs
    )
    # Margins in the middle: where all are large, predictions are the same whatever is forgotten.
    table = records(200, seed)
    margins = model.decision_function({name: [record[name] for record in table] for name in KINDS})
    middle = np.median(margins.reshape(200, n_outputs), axis=0)
    return replace(model, intercept=tuple((rng.normal(size=n_outputs) - middle).tolist()))


def fitted(task: str, invalid: str = "raise", seed: int = 0) -> PublishedModel:
    """A model of a task, fitted to some records and then given effects of all columns."""
    rng = np.random.default_rng(seed)
    table = records(120, seed)
    frame = {name: [record[name] for record in table] for name in KINDS}
    settings = {
        "epsilon": float("inf"),
        "delta": 1e-6,
        "schema": Schema.from_toml(SCHEMA),
        "shapes": "linear",
        "invalid": invalid,
        "random_state": 0,
    }
    if task in CLASSES:
        classes = CLASSES[task]
        weight = {"class_weight": {0: 1, 1: 4}} if task == "binary" else {}
        estimator = SparseLogisticRegression(classes=classes, **weight, **settings)
        y = rng.choice(np.array(classes, dtype=object), 120)
    elif task == "count":
        estimator = SparsePoissonRegressor(max_count=20, **settings)
        y = rng.poisson(2, 120)
    else:
        estimator = SparseLinearRegression(target_bounds=(-2, 3), **settings)
        y = rng.normal(size=120).clip(-2, 3)
    return with_effects(PublishedModel.from_estimator(estimator.fit(frame, y)), seed)

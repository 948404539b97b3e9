"""Intervals as a model file holds them: standard errors, from which all else is counted anew."""

import math

import numpy as np

from sparsedp.inference import CoefficientTable, Inference
from sparsedp.inference.table import is_confidence
from sparsedp.release.checks import NotAModel, checked_fields, is_number, need
from sparsedp.release.document import Json, Object
from sparsedp.release.feature import Feature
from sparsedp.release.pair import Pair

FIELDS = ("method", "confidence", "standard_errors", "noise_shares")


def table_of(
    inference: Inference | None, features: tuple[Feature, ...], intercept: float
) -> CoefficientTable | None:
    """What a fit knows, for the features of a model file in their order, and the intercept."""
    if inference is None:
        return None
    place = {int(j): i for i, j in enumerate(inference.features)}
    rows = [*(place[feature.index] for feature in features), len(place)]
    table = inference.table
    return CoefficientTable(
        estimates=np.array([*(feature.coef[0] for feature in features), intercept]),
        standard_errors=table.standard_errors[rows],
        noise_shares=table.noise_shares[rows],
        confidence=table.confidence,
        method=table.method,
    )


def stored(table: CoefficientTable) -> Object:
    """Ready for JSON: null where there is no interval, the intercept last."""
    return {
        "method": table.method,
        "confidence": table.confidence,
        "standard_errors": _plain(table.standard_errors),
        "noise_shares": _plain(table.noise_shares),
    }


def _plain(values: np.ndarray) -> list[Json]:
    return [None if math.isnan(value) else value for value in values.tolist()]


def checked_intervals(
    content: Json,
    task: str,
    features: tuple[Feature, ...],
    intercept: list[int | float],
    interactions: tuple[Pair, ...] = (),
) -> CoefficientTable | None:
    """What a stranger's file says about them; files of before, and most models, say nothing."""
    if content is None:
        return None
    need(task in ("binary", "linear"), f"a {task} model has no intervals")
    need(not any(feature.knots for feature in features), "a model with shapes has no intervals")
    need(not interactions, "a model with interactions has no intervals")
    fields = checked_fields(content, FIELDS, "intervals")
    method, confidence = fields["method"], fields["confidence"]
    if method not in ("same", "split"):
        raise NotAModel('the method of intervals must be "same" or "split"')
    if not is_number(confidence) or not is_confidence(confidence):
        raise NotAModel("the confidence of intervals must be a number between 0.5 and 1")
    errors = _numbers(fields["standard_errors"], len(features) + 1, "standard_errors")
    shares = _numbers(fields["noise_shares"], len(features) + 1, "noise_shares")
    known = ~np.isnan(errors)
    need(bool((errors[known] > 0).all()), "standard_errors must be above zero")
    need(bool((known == ~np.isnan(shares)).all()), "noise_shares must be where errors are")
    right = (shares[known] >= 0) & (shares[known] <= 1)
    need(bool(right.all()), "noise_shares must lie between 0 and 1")
    return CoefficientTable(
        estimates=np.array([*(feature.coef[0] for feature in features), intercept[0]], dtype=float),
        standard_errors=errors,
        noise_shares=shares,
        confidence=float(confidence),
        method="same" if method == "same" else "split",
    )


def _numbers(values: Json, count: int, name: str) -> np.ndarray:
    """Numbers, NaN where the file says null."""
    if not isinstance(values, list) or len(values) != count:
        raise NotAModel(f"{name} must list {count} numbers or null")
    found = [math.nan if value is None else value for value in values]
    numbers = [value for value in values if value is not None]
    if not all(map(is_number, numbers)):
        raise NotAModel(f"{name} must list {count} numbers or null")
    return np.array(found, dtype=np.float64)

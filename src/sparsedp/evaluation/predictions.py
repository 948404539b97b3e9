"""From a model, or a column of predictions, to numbers: one cell at a time, like any other cell."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sparsedp.data.bounds import Bounds
from sparsedp.data.gate import Invalid, as_float64, encode_labels, numbers, shape_of, vector
from sparsedp.data.raw import RawTable
from sparsedp.evaluation.binary import EDGES, Binary
from sparsedp.evaluation.design import Design
from sparsedp.evaluation.multiclass import Multiclass
from sparsedp.evaluation.regression import Regression
from sparsedp.evaluation.target import Model, is_model, is_ours
from sparsedp.fit.target import Classes, Numbers
from sparsedp.losses import Multinomial

ResponseMethod = Literal["auto", "predict_proba", "decision_function", "predict"]
"""What is scored, in scikit-learn's words; of a column it says what the column holds."""

MARGIN = 8.0
"""Margins are clipped to this: all that are further out share a bin."""


@dataclass(frozen=True, eq=False, repr=False)
class Predictions:
    """What a model says of each record: private numbers, with public promises about them.

    Parameters
    ----------
    values : ndarray of shape (n, width)
        NaN where a prediction is missing.
    bounds : Bounds
        To which the gate clips them.
    design : Design
        The table that they are counted in.
    method : str
        What was asked of the model.
    """

    values: np.ndarray
    bounds: Bounds
    design: Design
    method: str


def predictions_of(
    model: Model,
    X: RawTable,
    target: Classes | Numbers,
    response_method: ResponseMethod,
    invalid: Invalid,
    *,
    empty: bool,
) -> Predictions:
    """Ask the model, and read what it says cell by cell.

    Parameters
    ----------
    model
        Whatever predicts, or a column of predictions; then X is None.
    X : table
        As the model takes it.
    target : Classes or Numbers
    response_method : str
    invalid : {"raise", "replace"}
    empty : bool
        Whether there are no records: many models refuse such a table, and would tell.
    """
    method = _method(model, target, response_method)
    if is_model(model):
        if X is None:
            raise ValueError("X is missing: the records for which the model predicts")
        cells = None if empty else _asked(model, method, X)
    elif X is not None:
        raise ValueError("a column of predictions needs no records: pass X=None")
    else:
        cells = model
    values, bounds, design = _read(cells, method, target, is_ours(model), invalid)
    if invalid == "raise" and np.isnan(values).any():
        raise ValueError(
            "predictions are missing (NaN) for some records: repair these records, or pass "
            'invalid="replace", which takes the middle of the range'
        )
    return Predictions(values, bounds, design, method)


def _method(model: Model, target: Classes | Numbers, asked: ResponseMethod) -> str:
    """What to ask of a model, by its kind alone."""
    if isinstance(target, Numbers):
        if asked not in ("auto", "predict"):
            raise ValueError('numbers come from response_method="predict"')
        return "predict"
    if asked != "auto":
        several = len(target.classes) > 2 and not is_ours(model)
        if asked == "decision_function" and several:
            raise ValueError(
                "margins of several classes say nothing of confidence: take "
                'response_method="predict_proba" or "predict"'
            )
        return asked
    if not is_model(model):
        return "predict_proba"
    # Margins of our own models are log odds, without the rounding of probabilities.
    known = ["predict_proba"] if not is_ours(model) else ["decision_function"]
    if len(target.classes) == 2:
        known.append("decision_function")
    return next((name for name in known if callable(getattr(model, name, None))), "predict")


def _asked(model: Model, method: str, X: RawTable) -> RawTable:
    """What the model says; nothing that a strange one raises or warns of is passed on."""
    said: Callable[[RawTable], RawTable] = getattr(model, method)
    if is_ours(model):
        return said(X)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return said(X)
    except Exception as error:
        failed = type(error).__name__
    raise ValueError(
        f"{method} of the model raised {failed} on these records; nothing was charged. Its message "
        "may quote them, so it is not repeated: call the method yourself to see it"
    )


def _read(
    cells: RawTable, method: str, target: Classes | Numbers, ours: bool, invalid: Invalid
) -> tuple[np.ndarray, Bounds, Design]:
    """Numbers, the bounds that they are clipped to, and the table that they belong in."""
    if isinstance(target, Numbers):
        low, high = target.interval
        bounds = Bounds(low, high)
        return _column(cells, bounds, invalid), bounds, Regression((high - low) / 2)
    k, unit = len(target.classes), Bounds(0.0, 1.0)
    if method == "predict":
        return _one_hot(cells, target, invalid), unit, Multiclass.of(k, labels=True)
    if k > 2:
        values = _matrix(cells, k, invalid)
        if method == "decision_function":
            values = probabilities_of(values)
        return np.clip(values, 0.0, 1.0), unit, Multiclass.of(k, labels=False)
    if method == "decision_function":
        bounds = Bounds(-MARGIN, MARGIN)
        return _column(cells, bounds, invalid), bounds, Binary(EDGES / MARGIN, odds=ours)
    if cells is not None and not _is_column(cells):
        cells = _matrix(cells, 2, invalid)[:, 1]
    # In unit coordinates 2 p - 1, of log odds m, is tanh(m / 2).
    return _column(cells, unit, invalid), unit, Binary(np.tanh(EDGES / 2))


def _is_column(cells: RawTable) -> bool:
    try:
        return shape_of(cells)[1] == 1
    except ValueError:
        return True  # no table: one cell per record, or nothing that the gate takes


def _column(cells: RawTable, bounds: Bounds, invalid: Invalid) -> np.ndarray:
    """One number per record, as a column; what is infinite becomes the bound."""
    if cells is None:
        return np.empty((0, 1))
    shape = getattr(cells, "shape", ())
    if isinstance(cells, np.ndarray) and len(shape) == 2 and shape[1] == 1:
        cells = cells[:, 0]
    values = as_float64(vector(cells), "the predictions", invalid)
    low, high = bounds.arrays(1)
    return np.clip(values, low, high)[:, None]


def _matrix(cells: RawTable, width: int, invalid: Invalid) -> np.ndarray:
    """One number per record and class."""
    if cells is None:
        return np.empty((0, width))
    if shape_of(cells)[1] != width:
        raise ValueError(
            f"predictions have {shape_of(cells)[1]} columns for {width} classes: one per class, in "
            "the order of the classes"
        )
    values = numbers(cells, invalid)
    return values if isinstance(values, np.ndarray) else values.toarray()


def _one_hot(cells: RawTable, target: Classes, invalid: Invalid) -> np.ndarray:
    """A one where the predicted label is."""
    if cells is None:
        return np.empty((0, len(target.classes)))
    try:
        codes = encode_labels(cells, target.classes, invalid)
    except ValueError as error:
        problem = str(error)  # about a kind of labels
    else:
        return np.eye(len(target.classes))[codes.astype(np.int64)]
    raise ValueError(f"predicted labels in the place of y: {problem}")


def probabilities_of(margins: np.ndarray) -> np.ndarray:
    """Probabilities of our own margins, by the exponential of the losses: record by record."""
    first = np.zeros(len(margins), dtype=np.int64)
    probabilities = Multinomial(margins.shape[1]).residual(margins, first)
    probabilities[:, 0] += 1
    return probabilities

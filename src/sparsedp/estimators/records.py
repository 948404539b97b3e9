"""Records on their way into ``fit``: scikit-learn's contract first, then the gate."""

from dataclasses import dataclass
from typing import cast

import numpy as np
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import validate_data

from sparsedp.data.blocks.blocks import RecordBlocks, in_blocks
from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.data.gate import check_type, column_names, shape_of, unwrapped
from sparsedp.data.schema import Schema
from sparsedp.estimators.border import Estimator, Features, Groups, Targets, Weights
from sparsedp.estimators.raw import (
    forget_schema,
    groups_of,
    limits_of,
    note_columns,
    offset_of,
    schema_for,
    target_cells,
    weights_of,
)
from sparsedp.fit.problem import Problem, Target
from sparsedp.fit.progress import Progress
from sparsedp.fit.settings import Settings
from sparsedp.fit.warned import warn_caller
from sparsedp.losses import Loss


@dataclass(frozen=True, eq=False, repr=False)
class Given:
    """The arguments of ``fit``, as they came."""

    X: Features
    y: Targets = None
    groups: Groups | None = None
    sample_weight: Weights | None = None
    offset: Weights | None = None
    offset_bounds: tuple[float, float] | None = None


@dataclass(frozen=True)
class Records:
    """What was handed to ``fit``: shapes, types and names are checked, values are not.

    Parameters
    ----------
    X, y
        As they came, but for a y of one column, which is taken out of it; None with blocks.
    groups, sample_weight, offset, offset_bounds
        As they came.
    blocks : RecordBlocks or None
    n_features : int
    names : sequence of str or None
    bounds : Bounds or None
        Of the columns that a schema made; None where the settings have the bounds.
    """

    X: Features
    y: Targets
    blocks: RecordBlocks | None
    n_features: int
    names: np.ndarray | None
    groups: Groups | None = None
    sample_weight: Weights | None = None
    bounds: Bounds | None = None
    offset: Weights | None = None
    offset_bounds: tuple[float, float] | None = None

    @classmethod
    def of(cls, estimator: Estimator, given: Given) -> "Records":
        """Check, and note number and names of the features on the estimator."""
        if estimator.schema is not None:
            return cls._encoded(estimator, estimator.schema, given)
        forget_schema(estimator)
        X, y = given.X, given.y
        blocks = in_blocks(X, y, given.groups, given.sample_weight)
        if blocks is None:
            X, y = _checked(estimator, X, y)
        else:
            X = y = None
            if blocks.schema is not None:
                note_columns(estimator, blocks.schema)
                names = estimator.coef_names_
                return cls(None, None, blocks, blocks.n_features, names)
            estimator.n_features_in_ = blocks.n_features
            if blocks.feature_names is not None:
                estimator.feature_names_in_ = np.asarray(blocks.feature_names, dtype=object)
            elif "feature_names_in_" in vars(estimator):
                del estimator.feature_names_in_  # of an earlier fit
        names = getattr(estimator, "feature_names_in_", None)
        d = estimator.n_features_in_
        return cls(
            X=X,
            y=y,
            blocks=blocks,
            n_features=d,
            names=names,
            groups=given.groups,
            sample_weight=given.sample_weight,
            offset=given.offset,
            offset_bounds=given.offset_bounds,
        )

    @classmethod
    def _encoded(cls, estimator: Estimator, schema: Schema, given: Given) -> "Records":
        """A raw table as the bounded columns of its schema, each record by itself."""
        schema, frame = schema_for(schema, given.X)
        _check_any(frame.n_rows, estimator)
        note_columns(estimator, schema)
        return cls(
            X=schema.encode(frame, estimator.invalid),
            y=_one_column(target_cells(schema, frame, given.y)),
            blocks=None,
            n_features=schema.n_columns,
            names=estimator.coef_names_,
            groups=groups_of(schema, frame, given.groups),
            sample_weight=weights_of(schema, frame, given.sample_weight),
            bounds=schema.bounds,
            offset=offset_of(schema, frame, given.offset),
            offset_bounds=limits_of(schema, given.offset_bounds),
        )

    def problem(self, settings: Settings, target: Target, loss: Loss) -> Problem:
        """Let the records through the gate.

        Every block is read once to be checked, before anything is charged.
        """
        bounds = (self.bounds or settings.bounds).aligned(self.n_features, self.names)
        coins = None if settings.holdout is None else settings.holdout.coins()
        if coins is not None and self.blocks is not None:
            raise ValueError("coins that persist (Holdout with a key) are for records in memory")
        held = None if coins is None else coins.held(self.groups, settings.invalid)
        if self.blocks is None:
            data = Dataset.clip(
                self.X,
                self.y,
                bounds,
                classes=target.classes,
                target_bounds=target.bounds,
                intercept=settings.fit_intercept,
                invalid=settings.invalid,
                groups=self.groups,
                sample_weight=self.sample_weight,
                class_weight=target.class_weight,
                offset=self.offset,
                offset_bounds=self.offset_bounds,
            )
        elif target.class_weight is not None or self.offset is not None:
            raise ValueError("records in blocks take neither class_weight nor offset yet")
        else:
            data = self.blocks.clip(
                bounds,
                classes=target.classes,
                target_bounds=target.bounds,
                intercept=settings.fit_intercept,
                invalid=settings.invalid,
                watch=Progress(None, settings.verbose).reading,
            )
        if settings.invalid == "raise" and data.weighting == "sub_unit" and not data.total_weight:
            data.close()
            raise ValueError("sample_weight is zero for all rows: there is nothing to fit.")
        # Records in blocks answer all that solvers ask of a dataset.
        return Problem(cast(Dataset, data), loss, target, held)


def _checked(estimator: Estimator, X: Features, y: Targets) -> tuple[Features, Targets]:
    """scikit-learn's contract by shape, type and names alone; values are for the gate to judge."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y "
            "is None."
        )
    X, y = unwrapped(X), unwrapped(y)
    n, d = shape_of(X)
    if isinstance(X, np.ndarray):
        check_type(X.dtype, "X")
    if d == 0:
        # In scikit-learn's words, which want a shape; the number of records is left out of it.
        raise ValueError("Found 0 feature(s) (shape=(, 0)) while a minimum of 1 is required.")
    _check_any(n, estimator)
    validate_data(estimator, X, skip_check_array=True)
    return X, _one_column(y)


def _check_any(n_rows: int, estimator: Estimator) -> None:
    if n_rows == 0 and estimator.invalid == "raise":
        raise ValueError(
            "Found array with 0 sample(s): there are no records. This error is for whoever holds "
            'the data; with invalid="replace" a table without records is fitted like any other.'
        )


def _one_column(y: Targets) -> Targets:
    shape = getattr(y, "shape", None)
    if shape is None or len(shape) != 2 or shape[1] != 1:
        return y
    warn_caller(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y "
        "to (n_samples, ), for example using ravel().",
        DataConversionWarning,
    )
    names = column_names(y)
    return y[names[0]] if names is not None else y.reshape(-1)

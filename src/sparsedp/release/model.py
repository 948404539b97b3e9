"""A published model: everything that leaves, in one JSON file, and predictions from it."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from sparsedp.data.files.opened import read_text
from sparsedp.data.gate import (
    Invalid,
    as_float64,
    check_finite,
    column_names,
    missing_values,
    numbers,
    shape_of,
    unwrapped,
)
from sparsedp.data.predict import linear_predictor
from sparsedp.privacy.verdict import Verdict, verdict_of
from sparsedp.release.read import FORMAT, HASH, content_hash, fields_of

FILE = "model.json"


@dataclass(frozen=True, kw_only=True)
class Feature:
    """A feature that the model uses.

    Parameters
    ----------
    index : int
        Column in the table that the model was fitted to.
    name : str or None
        Name of that column, if it had one.
    lower, upper : float
        Values are clipped to these before they are multiplied.
    coef : tuple of float
        One per output.
    """

    index: int
    name: str | None
    lower: float
    upper: float
    coef: tuple[float, ...]

    @property
    def label(self) -> str:
        """What a reader calls it: its name, or x and its number."""
        return f"x{self.index}" if self.name is None else self.name

    @property
    def effect(self) -> tuple[float, ...]:
        """Change of each output as the feature goes from its lower to its upper bound."""
        return tuple(value * (self.upper - self.lower) for value in self.coef)


@dataclass(frozen=True, kw_only=True)
class PublishedModel:
    """A fitted model without the estimator: small, readable, and all that predictions need.

    Parameters
    ----------
    task : {"binary", "multinomial", "linear"}
    n_features : int
        Of the table that the model was fitted to.
    features : tuple of Feature
        Those with a non-zero coefficient, by index. A million others cost nothing.
    intercept : tuple of float
        One per output: a single one, or one per class when there are more than two.
    classes : tuple or None
        Labels in the order of the outputs; None for a linear model.
    target : dict
        What was declared about the target, and its ``name`` if it has one.
    privacy : dict
        What ``PrivacyRecord.to_dict`` wrote.
    categories : dict of str to tuple of str
        Text columns that features such as "color=red" were made from, with their declared values.

    Privacy
    -------
    Every field is a release or public, so the file may be published under the guarantee in
    ``privacy``. Predictions for other records reveal nothing more about the records of the fit.
    """

    task: str
    n_features: int
    features: tuple[Feature, ...]
    intercept: tuple[float, ...]
    classes: tuple[Any, ...] | None
    target: dict[str, Any]
    privacy: dict[str, Any]
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        feature_names: Sequence[str] | None = None,
        target_name: str | None = None,
        categories: Mapping[str, Sequence[Any]] | None = None,
    ) -> "PublishedModel":
        """Take what a fitted SparseLogisticRegression or SparseLinearRegression releases.

        Parameters
        ----------
        estimator : fitted estimator
        feature_names : sequence of str, optional
            Of all columns, if the estimator was fitted to an array without names.
        target_name : str, optional
            What is predicted, for the reader.
        categories : dict, optional
            Declared values of text columns, as given to ``read_table``.
        """
        try:
            record = estimator.privacy_.to_dict()
        except AttributeError:
            raise ValueError(
                "only a fitted sparsedp estimator can be published: call fit"
            ) from None
        coef = np.atleast_2d(estimator.coef_)
        lower, upper = estimator.clip_bounds_
        names = getattr(estimator, "feature_names_in_", feature_names)
        if names is not None and len(names) != coef.shape[1]:
            raise ValueError(f"{len(names)} feature names for a model of {coef.shape[1]} features")
        features = tuple(
            Feature(
                index=j,
                name=None if names is None else str(names[j]),
                lower=float(lower[j]),
                upper=float(upper[j]),
                coef=tuple(coef[:, j].tolist()),
            )
            for j in np.flatnonzero(coef.any(axis=0)).tolist()
        )
        classes = record["target"].get("classes")
        used = {feature.label for feature in features}
        return cls(
            task="linear" if classes is None else "binary" if len(classes) == 2 else "multinomial",
            n_features=coef.shape[1],
            features=features,
            intercept=tuple(np.atleast_1d(estimator.intercept_).tolist()),
            classes=None if classes is None else tuple(classes),
            target=record["target"] | ({} if target_name is None else {"name": target_name}),
            privacy=record,
            categories={
                column: tuple(map(str, values))
                for column, values in (categories or {}).items()
                if used & {f"{column}={value}" for value in values}
            },
        )

    @property
    def invalid(self) -> Invalid:
        """What is done with missing and malformed values: the same as in the fit."""
        return "replace" if self.privacy["model"].get("invalid") == "replace" else "raise"

    @property
    def coef(self) -> dict[int, tuple[float, ...]]:
        """Coefficients by column, one value per output; all others are zero."""
        return {feature.index: feature.coef for feature in self.features}

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features that the model uses; x0, x1, ... if the table had none."""
        return tuple(feature.label for feature in self.features)

    @property
    def named(self) -> bool:
        """Whether features are found by name; otherwise by position."""
        return all(feature.name is not None for feature in self.features)

    @property
    def outputs(self) -> tuple[str, ...]:
        """What each column of coefficients speaks for."""
        if self.classes is None:
            return (self.target.get("name", "target"),)
        shown = self.classes[1:] if self.task == "binary" else self.classes
        return tuple(map(label_text, shown))

    def decision_function(self, X: Any, feature_names: Sequence[str] | None = None) -> np.ndarray:
        """Margins: shape (n,), or (n, n_classes) for more than two classes.

        Parameters
        ----------
        X : array, sparse array or data frame
            Columns go by name if they have names and the model knows them (then only the features
            that the model uses are needed), else by position.
        feature_names : sequence of str, optional
            Names of the columns of an array.
        """
        values = self._columns(X, feature_names)
        coef = np.array([feature.coef for feature in self.features]).reshape(
            -1, len(self.intercept)
        )
        lower, upper = (
            np.array([getattr(feature, name) for feature in self.features], dtype=np.float64)
            for name in ("lower", "upper")
        )
        missing = missing_values(lower, upper, self.privacy["bounds"].get("row_norm"))
        margins = linear_predictor(
            values, np.ascontiguousarray(coef.T), np.array(self.intercept), lower, upper, missing
        )
        return margins[:, 0] if margins.shape[1] == 1 else margins

    def predict(self, X: Any, feature_names: Sequence[str] | None = None) -> np.ndarray:
        """The most probable class of each record, or the predicted number."""
        margins = self.decision_function(X, feature_names)
        if self.classes is None:
            return margins
        codes = (margins > 0).astype(int) if margins.ndim == 1 else margins.argmax(axis=1)
        return _label_array(self.classes)[codes]

    def predict_proba(self, X: Any, feature_names: Sequence[str] | None = None) -> np.ndarray:
        """Probability of each class, columns in the order of ``classes``."""
        if self.classes is None:
            raise ValueError("a linear model predicts numbers, not probabilities: use predict")
        margins = self.decision_function(X, feature_names)
        if margins.ndim == 1:
            return np.column_stack([expit(-margins), expit(margins)])
        return softmax(margins, axis=1)

    def verdict(self) -> Verdict:
        """How far the records of the fit are protected.

        Privacy
        -------
        Counted anew from the listed releases and settings: what the file says about itself is not
        looked at.
        """
        return verdict_of(self.privacy)

    def to_json(self) -> str:
        """The model file's text; numbers keep every bit."""
        content = {
            "format": FORMAT,
            "task": self.task,
            "target": self.target,
            "classes": None if self.classes is None else list(self.classes),
            "n_features": self.n_features,
            "features": [vars(feature) for feature in self.features],
            "intercept": self.intercept,
            "categories": self.categories,
            "privacy": self.privacy,
        }
        content[HASH] = content_hash(content)
        return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def fingerprint(self) -> str:
        """SHA-256 of the model file, by which a signed report names its model."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def save(self, folder: str | Path) -> Path:
        """Write model.json into a folder, which is made if needed; return the file's path."""
        path = Path(folder) / FILE
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.to_json(), encoding="utf-8")
        return path

    @classmethod
    def load(cls, path: str | Path) -> "PublishedModel":
        """Read a model file, or the model.json of a folder; what is not a valid model raises."""
        path = Path(path)
        path = path / FILE if path.is_dir() else path
        if not path.exists():
            raise FileNotFoundError(f"{path}: there is no model here")
        content = fields_of(read_text(path, "a model that sparsedp can read"), str(path))
        features = tuple(Feature(**item) for item in content.pop("features"))
        return cls(features=features, **content)

    def _columns(self, X: Any, names: Sequence[str] | None) -> Any:
        """The used columns as numbers, in the model's order."""
        X = unwrapped(X)
        columns = column_names(X)  # None unless X is a data frame
        if columns is not None and names is None and self.named:
            X, columns = self._encoded(X, columns)
        width = shape_of(X)[1] if columns is None else len(columns)
        support = self._positions(width, columns if names is None else names)
        if columns is not None:
            # Column by column in memory, as NumPy picks columns from an array.
            values = np.empty((X.shape[0], len(support)), order="F")
            for k, j in enumerate(support):
                values[:, k] = as_float64(X[columns[j]], f"column {columns[j]!r}", self.invalid)
        else:
            table = numbers(X, self.invalid, copy=False)
            table = table if isinstance(table, np.ndarray) else table.tocsr()
            values = table[:, support]
        if self.invalid == "raise":
            check_finite(values, self.feature_names)
        return values

    def _encoded(self, X: Any, columns: list[Any]) -> tuple[Any, list[Any]]:
        """A frame as it was read, with the 0/1 columns that the model makes of its text columns."""
        made = {
            f"{column}={value}": (column, value)
            for column, values in self.categories.items()
            if column in columns
            for value in values
        }
        wanted = [name for name in self.feature_names if name in made and name not in columns]
        if not wanted:
            return X, columns
        cells = {column: list(X[column]) for column in {made[name][0] for name in wanted}}
        read = {name: X[name] for name in self.feature_names if name in columns}
        frame = _Columns(X.shape[0], read)
        for name in wanted:
            column, value = made[name]
            frame[name] = np.array([_says(cell, value) for cell in cells[column]], dtype=np.float64)
        return frame, list(frame)

    def _positions(self, n_columns: int, names: Sequence[Any] | None) -> list[int]:
        """Where the data have the features that the model uses."""
        if self.named and names is not None:
            position = {name: j for j, name in enumerate(names)}
            missing = [name for name in self.feature_names if name not in position]
            if missing:
                shown = ", ".join(map(repr, missing[:5])) + (", ..." if len(missing) > 5 else "")
                raise ValueError(f"the model needs the columns {shown}, which the data do not have")
            return [position[name] for name in self.feature_names]
        if n_columns != self.n_features:
            raise ValueError(
                f"the model was fitted to {self.n_features} features, the data have {n_columns}: "
                "give the same columns in the same order"
            )
        return [feature.index for feature in self.features]


class _Columns(dict):
    """Columns by name, as far as a model needs them."""

    def __init__(self, n_records: int, columns: dict[str, Any]) -> None:
        super().__init__(columns)
        self._n_records = n_records

    @property
    def shape(self) -> tuple[int, int]:
        return self._n_records, len(self)


def _says(cell: Any, value: str) -> bool:
    """Whether a cell holds a declared category: numbers by value, text without spaces around."""
    text = str(cell).strip()
    if isinstance(cell, str) or text == value:
        return text == value
    try:
        return float(cell) == float(value)
    except (TypeError, ValueError):
        return False


def label_text(label: Any) -> str:
    """A label as a reader writes it: 1 for 1.0."""
    return f"{label:.15g}" if isinstance(label, float) else str(label)


def _label_array(classes: tuple[Any, ...]) -> np.ndarray:
    """Labels as an array that keeps each label's type."""
    array = np.array(classes)
    return array if array.tolist() == list(classes) else np.array(classes, dtype=object)

"""A published model: everything that leaves, in one JSON file, and predictions from it."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from sparsedp.data.bend import Bend
from sparsedp.data.files.opened import read_text
from sparsedp.data.gate import Invalid, missing_values
from sparsedp.data.gate.class_weight import class_codes
from sparsedp.data.gate.offset import with_offset
from sparsedp.data.interaction import Interaction
from sparsedp.data.linear_form import LinearForm, linear_form
from sparsedp.data.predict import linear_predictor
from sparsedp.data.raw import RawColumn
from sparsedp.data.schema import Schema
from sparsedp.data.used import used
from sparsedp.inference import CoefficientTable
from sparsedp.inference.summary import Summary
from sparsedp.losses import from_record
from sparsedp.privacy.record import PrivacyRecord
from sparsedp.privacy.verdict import Verdict, verdict_of
from sparsedp.release.columns import TableLike, UsedColumns
from sparsedp.release.document import Label, Planned, Record, Target
from sparsedp.release.feature import Feature, label_text
from sparsedp.release.intervals.stored import stored, table_of
from sparsedp.release.pair import Pair, pairs_of
from sparsedp.release.read import FORMAT, HASH, content_hash, fields_of
from sparsedp.release.scores.held_out import HeldOut, held_out

FILE = "model.json"


class Fitted(Protocol):
    """What a fitted SparseLogisticRegression or SparseLinearRegression releases."""

    privacy_: PrivacyRecord
    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64] | float
    clip_bounds_: tuple[NDArray[np.float64], NDArray[np.float64]]
    bends_: tuple[Bend, ...]
    interactions_: tuple[Interaction, ...]


@dataclass(frozen=True, kw_only=True)
class PublishedModel:
    """A fitted model without the estimator: small, readable, and all that predictions need.

    Parameters
    ----------
    task : {"binary", "multinomial", "linear"}
    n_features : int
        Of the table that the model was fitted to.
    features : tuple of Feature
        Those with an effect, by index. A million others cost nothing.
    intercept : tuple of float
        One per output: a single one, or one per class when there are more than two.
    classes : tuple or None
        Labels in the order of the outputs; None for a linear model.
    target : dict
        What was declared about the target, and its ``name`` if it has one.
    privacy : dict
        What ``PrivacyRecord.to_dict`` wrote.
    categories : dict of str to tuple of str
        Text columns that features such as "color=red" were made from, with their declared values;
        of models without a schema.
    schema : Schema or None
        How raw tables become features, for predictions from them.
    table : ndarray or None
        Released about those who were held out of the fit: all that ``scores`` follow from.
    intervals : CoefficientTable or None
        How well the coefficients are known, where the fit asked for that: of the features in their
        order, and of the intercept.
    planned : dict or None
        Quality that was expected before the fit: what ``QualityPlan.planned`` says.
    interactions : tuple of Pair
        Features that add something together, by these.

    Privacy
    -------
    Every field is a release or public, so the file may be published under the guarantee in
    ``privacy``. Predictions for other records reveal nothing more about the records of the fit.

    Examples
    --------
    >>> from sparsedp import SparseLogisticRegression
    >>> from sparsedp.data.synthetic import wang_zhang
    >>> from sparsedp.release import PublishedModel
    >>> made = wang_zhang(2_000, 10, seed=0)
    >>> model = SparseLogisticRegression(
    ...     epsilon=1.0, delta=1e-6, bounds=(-1, 1), classes=[0, 1], random_state=0
    ... ).fit(made.X, made.y)
    >>> published = PublishedModel.from_estimator(model, target_name="sick")
    >>> bool((published.predict(made.X) == model.predict(made.X)).all())
    True
    """

    task: str
    n_features: int
    features: tuple[Feature, ...]
    intercept: tuple[float, ...]
    classes: tuple[Label, ...] | None
    target: Target
    privacy: Record
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    schema: Schema | None = None
    planned: Planned | None = None
    interactions: tuple[Pair, ...] = ()
    table: NDArray[np.float64] | None = field(default=None, compare=False)
    intervals: CoefficientTable | None = field(default=None, compare=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Fitted,
        *,
        feature_names: Sequence[str] | None = None,
        target_name: str | None = None,
        categories: Mapping[str, Sequence[Label]] | None = None,
        planned: Planned | None = None,
    ) -> "PublishedModel":
        """Take what a fitted estimator of sparsedp releases.

        Parameters
        ----------
        estimator : fitted estimator
        feature_names : sequence of str, optional
            Of all columns, if the estimator was fitted to an array without names.
        target_name : str, optional
            What is predicted, for the reader.
        categories : dict, optional
            Declared values of text columns, as given to ``read_table``.
        planned : dict, optional
            ``plan(...).planned()``: quality that was expected before the fit.
        """
        try:
            record = cast("Record", estimator.privacy_.to_dict())
        except AttributeError:
            raise ValueError(
                "only a fitted sparsedp estimator can be published: call fit"
            ) from None
        schema: Schema | None = vars(estimator).get("schema_")
        if schema is None:
            names = getattr(estimator, "feature_names_in_", feature_names)
        else:
            names = schema.feature_names
            if target_name is None and schema.target is not None:
                target_name = schema.target.column
        features = _features(estimator, names)
        classes = record["target"].get("classes")
        target: Target = {**record["target"]}
        if target_name is not None:
            target["name"] = target_name
        labels = {feature.label for feature in features}
        return cls(
            task=from_record(record["loss"]).task,
            n_features=np.atleast_2d(estimator.coef_).shape[1],
            features=features,
            intercept=tuple(np.atleast_1d(estimator.intercept_).tolist()),
            classes=None if classes is None else tuple(classes),
            target=target,
            privacy=record,
            categories={
                column: tuple(map(str, values))
                for column, values in (categories or {}).items()
                if labels & {f"{column}={value}" for value in values}
            },
            schema=schema,
            table=getattr(vars(estimator).get("evaluation_"), "table", None),
            intervals=table_of(
                vars(estimator).get("inference_"),
                features,
                float(np.atleast_1d(estimator.intercept_)[0]),
            ),
            planned=planned,
            interactions=pairs_of(estimator.interactions_),
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
    def used(self) -> UsedColumns:
        """What the model needs of a table."""
        return UsedColumns(
            self.n_features, self.features, self.categories, self.invalid, self.schema
        )

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features that the model uses; x0, x1, ... if the table had none."""
        return self.used.names

    @property
    def named(self) -> bool:
        """Whether features are found by name; otherwise by position."""
        return self.used.named

    @property
    def outputs(self) -> tuple[str, ...]:
        """What each column of coefficients speaks for."""
        if self.classes is None:
            return (self.target.get("name", "target"),)
        shown = self.classes[1:] if self.task == "binary" else self.classes
        return tuple(map(label_text, shown))

    def declared(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Declared bounds of the used features: predictions may clip to narrower ones."""
        bounds = self.privacy["bounds"]
        lower, upper = (
            [
                limit[feature.index] if isinstance(limit, list) else limit
                for feature in self.features
            ]
            for limit in (bounds["lower"], bounds["upper"])
        )
        return np.array(lower, dtype=np.float64), np.array(upper, dtype=np.float64)

    def linear_form(self) -> LinearForm:
        """The plain linear model that is closest to this one, for the used features in order.

        ``coef`` has a row per output, ``largest_difference`` is that of ``decision_function`` for
        any record within the declared bounds: 0 where predictions clip to nothing narrower.
        """
        return linear_form(
            self._coef(),
            np.array(self.intercept),
            self._clipped_to(),
            self.declared(),
            self._bends(),
            self._interactions(),
        )

    def _coef(self) -> NDArray[np.float64]:
        """Of shape (n_outputs, n_used)."""
        coef = np.array([feature.coef for feature in self.features], dtype=np.float64)
        return np.ascontiguousarray(coef.reshape(-1, len(self.intercept)).T)

    def _bends(self) -> tuple[Bend, ...]:
        """Of the used features, by their positions among these."""
        found = (feature.bend(position) for position, feature in enumerate(self.features))
        return tuple(bend for bend in found if bend is not None)

    def _interactions(self) -> tuple[Interaction, ...]:
        """Of the used features, by their positions among these."""
        place = {feature.index: position for position, feature in enumerate(self.features)}
        return tuple(pair.interaction(place) for pair in self.interactions)

    def _clipped_to(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper limits of the used features at prediction."""
        lower, upper = (
            np.array([getattr(feature, name) for feature in self.features], dtype=np.float64)
            for name in ("lower", "upper")
        )
        return lower, upper

    def decision_function(
        self,
        X: TableLike,
        feature_names: Sequence[str] | None = None,
        offset: RawColumn = None,
    ) -> NDArray[np.float64]:
        """Margins: shape (n,), or (n, n_classes) for more than two classes.

        Parameters
        ----------
        X : array, sparse array or data frame
            With a schema a raw table, as it was fitted to: a data frame, an Arrow table or a dict
            of columns. Otherwise columns go by name if they have names and the model knows them
            (then only the features that the model uses are needed), else by position.
        feature_names : sequence of str, optional
            Names of the columns of an array.
        offset : array of shape (n,), optional
            Known part of each margin, for a model that was fitted with one; zero by default.
        """
        values = self.used.of(X, feature_names)
        coef, (lower, upper) = self._coef(), self._clipped_to()
        missing = missing_values(*self.declared(), self.privacy["bounds"].get("row_norm"))
        beside, intercept = (self._bends(), self._interactions()), np.array(self.intercept)
        margins = linear_predictor(values, coef, intercept, lower, upper, missing, *beside)
        limits = self.privacy["model"].get("offset_bounds")
        known = self.used.offset(X, feature_names, offset)
        margins = with_offset(margins, known, limits, self.invalid)
        return margins[:, 0] if margins.shape[1] == 1 else margins

    def predict(
        self,
        X: TableLike,
        feature_names: Sequence[str] | None = None,
        offset: RawColumn = None,
    ) -> NDArray[np.float64]:
        """The most probable class of each record, or the predicted number.

        Probabilities are multiplied by class weights, where the model was fitted with these.
        """
        margins = self.decision_function(X, feature_names, offset)
        if self.task == "count":  # logarithms of counts up to the declared limit
            return np.exp(np.minimum(margins, np.log(self.target["upper"])))
        if self.classes is None:
            return np.clip(margins, self.target["lower"], self.target["upper"])
        codes = class_codes(margins, self.target.get("class_weight"))
        return _label_array(self.classes)[codes]

    def predict_proba(
        self,
        X: TableLike,
        feature_names: Sequence[str] | None = None,
        offset: RawColumn = None,
    ) -> NDArray[np.float64]:
        """Probability of each class, columns in the order of ``classes``."""
        if self.classes is None:
            raise ValueError("this model predicts numbers, not probabilities: use predict")
        margins = self.decision_function(X, feature_names, offset)
        if margins.ndim == 1:
            return np.column_stack([expit(-margins), expit(margins)])
        return softmax(margins, axis=1)

    @property
    def scores(self) -> HeldOut | None:
        """Private scores with 95 % intervals, if the fit held persons out; from the table."""
        return held_out(self.table, self.classes, self.target, self.privacy)

    def summary(self) -> Summary:
        """The coefficients with their intervals, as a table.

        Privacy
        -------
        Says what the model file says.
        """
        if self.intervals is None:
            raise ValueError("this model has no intervals: fit with intervals=True")
        return Summary(
            title=f"{self.task} model of {', '.join(self.outputs)}",
            names=tuple(feature.label for feature in self.features),
            table=self.intervals,
            epsilon=float(self.privacy["epsilon"]),
            delta=self.privacy["delta"],
        )

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
        content: dict[str, object] = {
            "format": FORMAT,
            "task": self.task,
            "target": self.target,
            "classes": None if self.classes is None else list(self.classes),
            "n_features": self.n_features,
            "features": [feature.to_dict() for feature in self.features],
            "intercept": self.intercept,
            "categories": self.categories,
            "privacy": self.privacy,
        }
        shapes = [
            {"feature": feature.index, "knots": feature.knots, "bends": feature.bends}
            for feature in self.features
            if feature.knots
        ]
        if shapes:
            content["shapes"] = shapes
        if self.interactions:
            content["interactions"] = [pair.to_dict() for pair in self.interactions]
        if self.intervals is not None:
            content["intervals"] = stored(self.intervals)
        if self.schema is not None:
            content["schema"] = self.schema.to_dict()
        if self.planned is not None:
            content["planned"] = self.planned
        if self.table is not None:
            content["evaluation"] = {"table": self.table.tolist()}
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
        return cls(**fields_of(read_text(path, "a model that sparsedp can read"), str(path)))


def _features(estimator: Fitted, names: Sequence[str] | None) -> tuple[Feature, ...]:
    """The features with a non-zero coefficient, a bend or an interaction."""
    coef = np.atleast_2d(estimator.coef_)
    lower, upper = estimator.clip_bounds_
    if names is not None and len(names) != coef.shape[1]:
        raise ValueError(f"{len(names)} feature names for a model of {coef.shape[1]} features")
    bends = {bend.feature: bend for bend in estimator.bends_}
    found = np.flatnonzero(used(coef, estimator.bends_, estimator.interactions_))
    return tuple(
        Feature(
            index=j,
            name=None if names is None else str(names[j]),
            lower=float(lower[j]),
            upper=float(upper[j]),
            coef=tuple(coef[:, j].tolist()),
            knots=tuple(bends[j].knots.tolist()) if j in bends else (),
            bends=tuple(map(tuple, bends[j].heights.T.tolist())) if j in bends else (),
        )
        for j in found.tolist()
    )


def _label_array(classes: Sequence[Label]) -> NDArray:
    """Labels as an array that keeps each label's type."""
    array = np.array(classes)
    return array if array.tolist() == list(classes) else np.array(classes, dtype=object)

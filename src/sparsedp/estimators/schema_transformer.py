"""A schema as a step of a scikit-learn pipeline."""

from typing import Literal

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from sparsedp.data.bounds import Bounds
from sparsedp.data.schema import Schema
from sparsedp.estimators.border import Features, Tags, Targets
from sparsedp.estimators.raw import schema_for


class SchemaTransformer(TransformerMixin, BaseEstimator):
    """Turn raw data frames into the bounded columns of a schema; learns nothing from records.

    Parameters
    ----------
    schema : Schema
        What the columns of raw tables hold; required.
    invalid : {"raise", "replace"}
        Whether a cell that does not fit raises, or becomes a public value.

    Attributes
    ----------
    bounds_ : Bounds
        What is promised about the output: for the estimator that comes after.
    schema_ : Schema
        The same schema, completed by the names of the table's columns if it leaves some open.

    Notes
    -----
    *Privacy.* ``fit`` looks at the names of columns alone, and each record is transformed by itself
    with what the schema declares. Unlike an imputer or a scaler that was fitted to the records, it
    needs no budget.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sparsedp import Schema, SchemaTransformer, SparseLogisticRegression
    >>> schema = Schema(features={"age": {"lower": 0, "upper": 120}, "smoker": {"kind": "yes_no"}})
    >>> model = make_pipeline(
    ...     SchemaTransformer(schema),
    ...     SparseLogisticRegression(epsilon=1, delta=1e-6, bounds=schema.bounds, classes=(0, 1)),
    ... )
    """

    def __init__(
        self, schema: Schema | None = None, *, invalid: Literal["raise", "replace"] = "raise"
    ) -> None:
        self.schema = schema
        self.invalid = invalid

    def fit(self, X: Features, y: Targets = None) -> "SchemaTransformer":
        """Look at the names of the columns."""
        self.schema_, _ = schema_for(self._declared, X)
        self.n_features_in_ = len(self.schema_.columns)
        self.feature_names_in_ = np.array(self.schema_.columns, dtype=object)
        return self

    def transform(self, X: Features) -> np.ndarray:
        """The bounded columns, each record by itself."""
        if self.invalid not in ("raise", "replace"):
            raise ValueError(f'invalid must be "raise" or "replace", got {self.invalid!r}')
        return self._known.encode(X, self.invalid)

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Names of the bounded columns; the schema alone decides about them."""
        return np.array(self._known.feature_names, dtype=object)

    @property
    def bounds_(self) -> Bounds:
        """What is promised about the output."""
        return self._known.bounds

    @property
    def _declared(self) -> Schema:
        if not isinstance(self.schema, Schema):
            raise ValueError('schema is required: schema=Schema.from_toml("patients.toml")')
        return self.schema

    @property
    def _known(self) -> Schema:
        return vars(self).get("schema_", self._declared)

    def __sklearn_is_fitted__(self) -> bool:
        return "schema_" in vars(self) or not self._declared.is_open

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        return tags

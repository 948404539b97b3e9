"""What every fitted estimator holds and does, whatever it predicts."""

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from sparsedp.data.gate import check_finite, missing_values, numbers, shape_of, unwrapped
from sparsedp.data.gate.offset import with_offset
from sparsedp.data.linear_form import LinearForm, linear_form, narrowed
from sparsedp.data.predict import linear_predictor
from sparsedp.data.storage import Storage
from sparsedp.estimators.border import Estimator, Features, Tags, Weights
from sparsedp.estimators.path import ModelPath
from sparsedp.estimators.raw import offset_of, raw_values
from sparsedp.estimators.shapes import names_or_positions
from sparsedp.evaluation.result import Evaluation
from sparsedp.fit.coefficients import Coefficients
from sparsedp.inference import Inference
from sparsedp.inference.summary import Summary
from sparsedp.privacy import PrivacyRecord


def publish(
    estimator: Estimator,
    released: Coefficients,
    record: PrivacyRecord,
    evaluation: Evaluation | None = None,
) -> None:
    """Take over what was released; coefficients are left to the estimator, which knows their shape.

    Parameters
    ----------
    estimator
        Gets ``clip_bounds_``, ``bends_``, ``interactions_``, ``inference_``, ``privacy_`` and what
        ``path_`` is made of.
    released : Coefficients
        In declared units.
    record : PrivacyRecord
    evaluation : Evaluation, optional
        Of those who were held out.
    """
    estimator.clip_bounds_ = released.clip_bounds
    estimator.bends_ = released.bends
    estimator.interactions_ = released.interactions
    estimator.inference_ = released.inference
    estimator._path = (
        released.order,
        released.path_coefs,
        released.path_intercepts,
        released.path_bends,
        released.path_interactions,
    )
    estimator.privacy_ = record
    if evaluation is not None:
        estimator.evaluation_ = evaluation
    elif "evaluation_" in vars(estimator):
        del estimator.evaluation_  # of an earlier fit


def inference_of(estimator: Estimator) -> Inference:
    """How well the coefficients are known; raises where the fit did not ask for that."""
    check_is_fitted(estimator)
    if estimator.inference_ is None:
        raise AttributeError("there are no intervals: fit with intervals=True")
    return estimator.inference_


def summary_of(estimator: Estimator, title: str) -> Summary:
    """The table of coefficients, for readers."""
    inference, record = inference_of(estimator), estimator.privacy_
    named = [
        f"x{j}" if name == j else str(name) for j, name in enumerate(names_or_positions(estimator))
    ]
    notes = tuple(
        f"{f'x{name}' if isinstance(name, int) else name} is clipped to {low:g} ... {high:g}."
        for name, (low, high) in clipped_of(estimator).items()
    )
    return Summary(
        title=title,
        names=tuple(named[j] for j in inference.features),
        table=inference.table,
        epsilon=record.epsilon,
        delta=record.delta,
        notes=notes[:MOST_NOTES],
    )


MOST_NOTES = 8
"""Of features whose limits were tightened, below a summary."""


def path_of(estimator: Estimator) -> ModelPath:
    """The models with fewer features, at no further charge."""
    check_is_fitted(estimator)
    order, coefs, intercepts, bends, interactions = estimator._path
    return ModelPath(order, coefs, intercepts, estimator, tuple(bends), interactions)


def margins_of(estimator: Estimator, X: Features, offset: Weights | None = None) -> np.ndarray:
    """Margins of shape (n, n_outputs), of clipped features; malformed ones as in the fit.

    An offset is clipped as in the fit and added.
    """
    check_is_fitted(estimator)
    values = _values(estimator, X)
    missing = None
    if estimator.invalid == "replace":
        row_norm = estimator.privacy_.bounds.get("row_norm")
        missing = missing_values(*_declared(estimator), row_norm)
    coef, intercept = np.atleast_2d(estimator.coef_), np.atleast_1d(estimator.intercept_)
    lower, upper = estimator.clip_bounds_
    beside = estimator.bends_, estimator.interactions_
    margins = linear_predictor(values, coef, intercept, lower, upper, missing, *beside)
    if "schema_" in vars(estimator):
        offset = offset_of(estimator.schema_, X, offset)
    limits = estimator.privacy_.model.get("offset_bounds")
    return with_offset(margins, offset, limits, estimator.invalid)


def _shown(name: str | int) -> str:
    return f"x{name}" if isinstance(name, int) else name


def clipped_of(estimator: Estimator) -> dict[str | int, tuple[float, float]]:
    """Used features that are clipped to less than their declared bounds, and to what."""
    check_is_fitted(estimator)
    declared, clip = _declared(estimator), estimator.clip_bounds_
    named, coef = names_or_positions(estimator), np.atleast_2d(estimator.coef_)
    return {
        named[j]: (float(clip[0][j]), float(clip[1][j]))
        for j in narrowed(coef, clip, declared, estimator.bends_, estimator.interactions_)
    }


def linear_form_of(estimator: Estimator) -> LinearForm:
    """The plain linear model that is closest to the fitted one, in the shapes of that."""
    check_is_fitted(estimator)
    coef, intercept, difference = linear_form(
        np.atleast_2d(estimator.coef_),
        np.atleast_1d(estimator.intercept_),
        estimator.clip_bounds_,
        _declared(estimator),
        estimator.bends_,
        estimator.interactions_,
    )
    plain = isinstance(estimator.intercept_, float)
    return LinearForm(
        coef.reshape(np.shape(estimator.coef_)),
        float(np.ravel(intercept)[0]) if plain else intercept,
        difference,
    )


def _declared(estimator: Estimator) -> tuple[np.ndarray, np.ndarray]:
    """The bounds that were in force in the fit, one entry per feature."""
    d, bounds = len(estimator.clip_bounds_[0]), estimator.privacy_.bounds
    lower, upper = (np.asarray(bounds[name], dtype=float) for name in ("lower", "upper"))
    return np.broadcast_to(lower, (d,)), np.broadcast_to(upper, (d,))


def _values(estimator: Estimator, X: Features) -> Storage:
    """The features of records as numbers, not clipped yet."""
    if "schema_" in vars(estimator):
        return raw_values(estimator, X)
    X = unwrapped(X)
    n, d = shape_of(X)
    if n == 0 or d == 0:
        raise ValueError(f"Found array with 0 {'sample' if d else 'feature'}(s).")
    validate_data(estimator, X, reset=False, skip_check_array=True)
    values = numbers(X, estimator.invalid, copy=False)
    if estimator.invalid == "raise":
        check_finite(values, getattr(estimator, "feature_names_in_", None))
    return values


def tagged(estimator: Estimator, tags: Tags) -> Tags:
    """What scikit-learn should know of every estimator here."""
    tags.input_tags.sparse = True
    tags.non_deterministic = estimator.random_state is None
    return tags

"""What is predicted: declared classes or limits, from the caller or from the model itself."""

from collections.abc import Iterable
from typing import Any

from sparsedp.data.gate.labels import declared_classes
from sparsedp.data.gate.target import checked_target_bounds
from sparsedp.data.raw import RawColumn
from sparsedp.fit.target import Classes, Numbers

Model = Any
"""Whatever predicts, of any library; or a column of predictions."""


def is_model(model: Model) -> bool:
    """Whether this predicts; otherwise it is a column of predictions."""
    return callable(getattr(model, "predict", None))


def is_ours(model: Model) -> bool:
    """Whether predictions are those of this library: of each record by itself, to the last bit."""
    return type(model).__module__.split(".")[0] == "sparsedp"


def declared_target(
    model: Model, classes: RawColumn, target_bounds: Iterable[float] | None
) -> Classes | Numbers:
    """What may be predicted; never read from the records."""
    if classes is not None and target_bounds is not None:
        raise ValueError("declare classes or target_bounds, not both: labels or numbers")
    if target_bounds is not None:
        return Numbers(checked_target_bounds(target_bounds))
    known = _classes_of(model) if is_model(model) else None
    if classes is not None:
        declared = declared_classes(classes)
        if known is not None and known != declared:
            raise ValueError(
                "the model has other classes, or these in another order: leave classes out, or "
                "declare those of the model"
            )
        return Classes(declared)
    if known is not None:
        return Classes(known)
    limits = _limits_of(model) if is_model(model) else None
    if limits is None:
        raise ValueError(
            "what is predicted? Declare classes=... (labels) or target_bounds=(lo, hi) (numbers): "
            "they must be public, so they are not read from the records"
        )
    return Numbers(checked_target_bounds(limits))


def _classes_of(model: Model) -> tuple[Any, ...] | None:
    """Labels that a fitted classifier knows, in the order of its probabilities."""
    for name in ("classes_", "classes"):  # of estimators, and of published models
        found = getattr(model, name, None)
        if found is not None:
            return declared_classes(found)
    return None


def _limits_of(model: Model) -> tuple[float, float] | None:
    """Limits that the target of one of our models was declared to have."""
    if not is_ours(model):
        return None
    record = getattr(model, "privacy_", None)
    target = getattr(model, "target", {}) if record is None else record.target
    return (target["lower"], target["upper"]) if "lower" in target else None

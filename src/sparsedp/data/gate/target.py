"""Labels to codes and numeric targets to [-1, 1], each record by itself. See gate.md."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sparsedp.data.bounds import Bounds
from sparsedp.data.gate.cells import Invalid
from sparsedp.data.gate.clip import to_unit_box
from sparsedp.data.gate.containers import cells_of, unwrapped
from sparsedp.data.gate.labels import Labels, declared_classes
from sparsedp.data.gate.table import as_float64, check_type, sizes
from sparsedp.data.raw import Cells, Label, RawColumn
from sparsedp.data.storage import Array, Target


@dataclass(frozen=True, eq=False, repr=False)
class EncodedTarget:
    """Targets behind the gate, private, and the public promise that they were read by."""

    values: Target
    classes: tuple[Label, ...] | None
    target_bounds: tuple[float, float] | None

    @classmethod
    def read(
        cls,
        y: RawColumn,
        classes: RawColumn,
        target_bounds: Iterable[float] | None,
        invalid: Invalid,
    ) -> "EncodedTarget":
        """Labels by the declared classes or, where there are target bounds, numbers by these."""
        if target_bounds is None:
            declared = declared_classes(classes)
            return cls(encode_labels(y, declared, invalid), declared, None)
        limits = checked_target_bounds(target_bounds)
        return cls(encode_target(y, limits, invalid), None, limits)


def encode_labels(y: RawColumn, classes: tuple[Label, ...], invalid: Invalid) -> Target:
    """Map labels to 0.0/1.0 (two classes) or codes 0..K-1, each record by itself.

    The classes are declared, never collected from `y`: the label set of private data is private.
    """
    found, declared = vector(y), Labels(classes)
    if isinstance(found, np.ndarray):
        check_type(found.dtype, "y")
    if declared.too_fine_for(found):
        kind = found.dtype if isinstance(found, np.ndarray) else "float"
        raise ValueError(
            f"y has dtype {kind}, in which the declared classes cannot be told apart: keep "
            "such labels as whole numbers or as text (pandas turns whole numbers into floats where "
            "one is missing)."
        )
    codes = declared.codes(found)
    if invalid == "raise" and (codes < 0).any():
        raise ValueError(
            "y contains labels that are missing (NaN) or not among the declared classes: declare "
            'all classes, repair these records, or pass invalid="replace" (--invalid replace), '
            "which takes the first class."
        )
    codes = np.maximum(codes, 0)
    return codes.astype(np.float64) if len(classes) == 2 else codes


def encode_target(y: RawColumn, target_bounds: tuple[float, float], invalid: Invalid) -> Array:
    """Clip a numeric target to its bounds and map it to [-1, 1]."""
    lower, upper = target_bounds
    target = target_numbers(y, target_bounds, invalid)
    return to_unit_box(np.clip(target, lower, upper), lower, upper)


def target_numbers(y: RawColumn, target_bounds: tuple[float, float], invalid: Invalid) -> Array:
    """A numeric target, not clipped; what is missing or infinite raises or is a public value."""
    lower, upper = target_bounds
    target = as_float64(vector(y), "y", invalid)
    if invalid == "raise" and not np.isfinite(target).all():
        kind = "NaN (missing values)" if np.isnan(target).any() else "infinity"
        raise ValueError(
            f"Input y contains {kind}: repair these records, or pass "
            'invalid="replace" (--invalid replace), which takes the middle of target_bounds for '
            "what is missing and the nearer bound for what is infinite."
        )
    target[np.isnan(target)] = lower + (upper - lower) / 2
    return np.nan_to_num(target, copy=False, posinf=upper, neginf=lower)


def checked_target_bounds(target_bounds: Iterable[float]) -> tuple[float, float]:
    """Read what users write for the limits of a numeric target."""
    try:
        lower, upper = map(float, target_bounds)
    except (TypeError, ValueError):
        raise ValueError("target_bounds must be a pair (lo, hi) known without the data.") from None
    Bounds(lower, upper)  # finite, ordered and wide enough
    return lower, upper


def vector(y: RawColumn) -> Cells:
    """One cell per record: (n, 1) would broadcast to n x n."""
    y = unwrapped(y)
    if len(sizes(y)) != 1:
        raise ValueError("y should be a 1d array with one entry per record: pass y.ravel().")
    return cells_of(y)

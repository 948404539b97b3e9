"""Public weights of classes: how they are written, and what they do to margins (fit/margins.md)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sparsedp.data.gate.units import ClassWeight, class_shares
from sparsedp.data.raw import Label
from sparsedp.data.storage import Array

LEAST_CLASS = 1e-8
"""Of the largest class weight: weights are whole multiples of 2**-30."""


def class_weights(
    given: ClassWeight | str | None, classes: tuple[Label, ...]
) -> tuple[float, ...] | None:
    """What users write for class weights, in the order of the classes, the largest of them 1.

    None where all are the same: then every record counts 1.
    """
    if given is None:
        return None
    if isinstance(given, str):
        raise ValueError(
            "class_weight must be public: 'balanced' would read class counts off the records. Give "
            "a table such as class_weight={0: 1, 1: 10}, from knowledge of the subject or from "
            "counts that were released before"
        )
    shares = class_shares(given, classes)
    if not shares.min() >= LEAST_CLASS:
        raise ValueError(
            "class_weight must be within a factor of 1e8 of each other: smaller ones are zero."
        )
    return None if shares.min() == 1 else tuple(shares.tolist())


def class_shift(weights: Sequence[float]) -> Array:
    """What class weights add to margins: they multiply the odds of classes by their ratio.

    One number for two classes, else one for each class.
    """
    logs = np.log(np.asarray(weights, dtype=np.float64))
    return logs[1:] - logs[:1] if len(logs) == 2 else logs - logs.mean()


def class_codes(margins: Array, weights: Sequence[float] | None) -> NDArray[np.int64]:
    """The class whose probability times weight is largest, of margins (n,) or (n, K)."""
    if weights is not None:
        margins = margins + class_shift(weights)
    return (margins > 0).astype(int) if margins.ndim == 1 else margins.argmax(axis=1)

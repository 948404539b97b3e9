"""How much each row counts: whole multiples of 2**-30, at most one for a person. See persons.md."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sparsedp.data.gate.cells import Invalid
from sparsedp.data.gate.containers import unwrapped
from sparsedp.data.gate.labels import Labels
from sparsedp.data.gate.persons import NOBODY, person_codes
from sparsedp.data.gate.table import as_float64, sizes
from sparsedp.data.raw import Label, RawArray, RawColumn
from sparsedp.data.storage import Array, Target

Codes = NDArray[np.int64]
"""Of persons: only equality means anything."""

Whole = NDArray[np.int64]
"""Weights in units of 2**-30."""

ONE = 2**30
"""What a person's rows add up to, in units of weight."""

Weighting = Literal["unit", "sub_unit"]
"""Whether the weights of a person add up to exactly one, or to one at most."""

Unit = Literal["row", "person"]
"""What the guarantee protects."""

ClassWeight = Mapping[Label, float] | Sequence[float]
"""A public weight for each class, by label or in the order of the classes."""


@dataclass(frozen=True, eq=False, repr=False)
class Units:
    """Whose each row is, and how much it counts. Private, but for the kind of weights."""

    persons: Codes | None
    weights: Array | None
    weighting: Weighting

    @classmethod
    def read(cls, n: int, groups: RawColumn, shares: Array | None, invalid: Invalid) -> "Units":
        """Of ``n`` rows; ``shares`` tells which part of its ordinary weight each row keeps."""
        weighting: Weighting = "unit" if shares is None else "sub_unit"
        if groups is None:
            whole = None if shares is None else kept(np.full(n, ONE), shares)
            return cls(None, None if whole is None else as_weights(whole), weighting)
        persons = person_codes(groups, invalid)
        if len(persons) != n:
            raise ValueError("X and groups have different numbers of rows: give one id per row.")
        whole = ordinary(persons)
        whole = whole if shares is None else kept(whole, shares)
        return cls(persons, as_weights(whole), weighting)

    def first_rows(self, most: int) -> tuple[NDArray[np.bool_], Array]:
        """Which rows are among their person's first ``most``, and what those weigh then.

        A row keeps the part of its ordinary weight that it had. Needs persons.
        """
        if self.persons is None or self.weights is None:
            raise ValueError("only the rows of persons can be capped")
        before = ordinary(self.persons)
        mask = (ranks(self.persons) < most) & (self.persons != NOBODY)
        whole, before = as_whole(self.weights[mask]), before[mask]
        after = ordinary(self.persons[mask])
        # Both factors are at most 2**30.
        return mask, as_weights(whole * after // np.maximum(before, 1))


def ranks(persons: Codes) -> Whole:
    """How many rows of the same person come before each row."""
    order = np.argsort(persons, kind="stable")
    _, starts, counts = np.unique(persons[order], return_index=True, return_counts=True)
    places = np.empty(len(persons), dtype=np.int64)
    places[order] = np.arange(len(persons)) - np.repeat(starts, counts)
    return places


def ordinary(persons: Codes) -> Whole:
    """Whole weights that add up to exactly `ONE` for each person, and are zero for nobody.

    Of m rows each has 2**30 // m, and the person's first ones have one more: a function of the
    person's own rows alone.
    """
    _, codes, counts = np.unique(persons, return_inverse=True, return_counts=True)
    return shared(counts[codes.reshape(-1)], ranks(persons), persons != NOBODY)


def shared(counts: Whole, places: Whole, is_somebody: NDArray[np.bool_]) -> Whole:
    """The weight of a row at this place among so many of its person."""
    base, extra = np.divmod(ONE, np.maximum(counts, 1))
    return np.where(is_somebody, base + (places < extra), 0)


def n_somebody(persons: Codes) -> int:
    """Number of persons."""
    return len(np.unique(persons[persons != NOBODY]))


def handed_out(persons: Codes, draw: Callable[[int], RawArray]) -> RawArray:
    """A value for each row, drawn once for each person; zero for nobody's rows, whoever comes."""
    found, places = np.unique(persons, return_inverse=True)
    values = draw(n_somebody(persons))
    if len(found) and found[0] == NOBODY:
        values = np.concatenate([np.zeros(1, values.dtype), values])
    return values[places.reshape(-1)]


def kept(whole: Whole, shares: Array) -> Whole:
    """A part of whole weights, rounded down; shares lie in [0, 1], and NaN stands for none."""
    parts = np.where(shares >= 0, np.minimum(shares, 1.0), 0.0)
    # Weights are below 2**53, and rounding is monotone: never more than the whole.
    return np.floor(parts * whole).astype(np.int64)


def as_weights(whole: Whole) -> Array:
    """Whole weights as numbers: exact."""
    return whole.astype(np.float64) * (1.0 / ONE)


def as_whole(weights: Array) -> Whole:
    """Numbers that are multiples of 2**-30 as whole weights: exact."""
    return (weights * float(ONE)).astype(np.int64)


def row_shares(
    sample_weight: RawColumn,
    class_weight: ClassWeight | None,
    target: Target,
    classes: tuple[Label, ...] | None,
    invalid: Invalid,
) -> Array | None:
    """Which part of its ordinary weight each row keeps; None for all of it.

    Class weights are public and are divided by the largest of them, which is public too.
    """
    shares = None if sample_weight is None else sample_shares(sample_weight, invalid)
    if shares is not None and len(shares) != len(target):
        raise ValueError(
            "X and sample_weight have different numbers of rows: give one weight per row."
        )
    if class_weight is None:
        return shares
    if classes is None:
        raise ValueError("class_weight needs classes: this target is a number")
    by_class = class_shares(class_weight, classes)[target.astype(np.intp)]
    return by_class if shares is None else shares * by_class


def sample_shares(sample_weight: RawColumn, invalid: Invalid) -> Array:
    """Weights of rows, each cell by itself; what is above 1 counts 1, as bounds are clipped to."""
    sample_weight = unwrapped(sample_weight)
    if len(sizes(sample_weight)) != 1:
        raise ValueError("Sample weights must be 1D array or scalar: give one weight per row.")
    found = as_float64(sample_weight, "sample_weight", invalid)
    if invalid == "raise" and not (found >= 0).all():
        raise ValueError(
            "sample_weight contains weights that are missing (NaN) or negative: repair these rows, "
            'or pass invalid="replace" (--invalid replace), which takes 0 for them.'
        )
    return np.where(found >= 0, np.minimum(found, 1.0), 0.0)


def class_shares(class_weight: ClassWeight, classes: tuple[Label, ...]) -> Array:
    """Public weights in the order of the classes, the largest of them 1."""
    given = np.ones(len(classes))
    if isinstance(class_weight, Mapping):
        declared = Labels(classes)
        for label, weight in class_weight.items():
            code = declared.code(label)
            if code < 0:
                raise ValueError("class_weight names a label that is not among the classes.")
            given[code] = weight
    else:
        given = np.asarray(class_weight, dtype=np.float64)
    fits = given.shape == (len(classes),)
    if not fits or not np.isfinite(given).all() or not (given > 0).all():
        raise ValueError("class_weight must give every class a positive number.")
    return np.asarray(given / given.max(), dtype=np.float64)

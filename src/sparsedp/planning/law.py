"""The empirical law: what a private model keeps of the quality without privacy.

A model without privacy has a lift over guessing, the *ceiling*; a private one keeps a part of it.
An index of the public numbers says how loud the noise is; law.json has quantiles of the kept part
along that index, over fits of many public tables (planning.md says how they were made).
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from sparsedp.planning.facts import Facts, Kind

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Quantiles of a band. The first is what is promised: in 19 of 20 fits quality is at least that."""

LEAST_LIFT = {"binary": 0.1, "regression": 0.02, "multiclass": 0.05}
HIGHEST = {"binary": 0.998, "regression": 0.99, "multiclass": 0.998}


class Numbers(Protocol):
    """What the index is made of; arrays of many fits have the same names as `Facts`."""

    @property
    def kind(self) -> Kind:
        """Of target."""
        ...

    @property
    def signal(self) -> float:
        """Over noise."""
        ...

    @property
    def n_features(self) -> int:
        """Columns."""
        ...

    @property
    def rate(self) -> float:
        """Of a class."""
        ...

    @property
    def spread(self) -> float:
        """Of a number."""
        ...

    @property
    def n_classes(self) -> int:
        """Of several."""
        ...


def lift(kind: Kind, quality: NDArray[np.float64], null: float) -> NDArray[np.float64]:
    """How far quality is above guessing, on the scale on which noise shrinks it.

    Of AUC the distance between two normal classes in their deviations; of R2 and accuracy the
    difference.
    """
    if kind == "binary":
        return math.sqrt(2) * ndtri(np.clip(quality, 1 - HIGHEST[kind], HIGHEST[kind]))
    return np.minimum(quality, HIGHEST[kind]) - null


def quality_of(kind: Kind, lifted: NDArray[np.float64], null: float) -> NDArray[np.float64]:
    """The inverse of `lift`."""
    if kind == "binary":
        return ndtr(lifted / math.sqrt(2))
    return np.minimum(lifted + null, 1.0)


def terms(facts: Numbers, ceiling: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the index is linear in: logarithms of public numbers and of the ceiling's lift."""
    kind, null = facts.kind, facts.rate if facts.kind == "multiclass" else 0.0
    height = np.maximum(lift(kind, ceiling, null), LEAST_LIFT[kind])
    if kind == "binary":
        height, other = height / 1.5, np.log(facts.rate * (1 - np.asarray(facts.rate)) / 0.2)
    elif kind == "regression":
        height, other = np.sqrt(height / (1 - height)), np.log(np.asarray(facts.spread) / 0.3)
    else:
        height = height / (1 - np.asarray(facts.rate))
        other = np.log(np.asarray(facts.n_classes) / 5)
    signal, features = np.log(np.asarray(facts.signal) / 300), np.log(facts.n_features)
    columns = (1.0, signal, features - math.log(30), np.log(height), other)
    return np.stack(np.broadcast_arrays(*columns), axis=-1)


@dataclass(frozen=True)
class Curves:
    """The law of one kind of target.

    Parameters
    ----------
    index : ndarray
        Weights of the terms.
    kept : ndarray of shape (n_knots, n_levels)
        Part of the lift that is kept, by index and level.
    used : ndarray of shape (n_knots, 3)
        Part of the features that a model keeps (5, 50 and 95 % of fits).
    real : ndarray of shape (n_knots,), or empty
        Of the features that a model keeps, the part that is not there by chance; empty where that
        is not known.
    ceilings : (float, float)
        Between which nine of ten tables lie.
    n_groups, n_fits : int
        What it rests on.
    """

    knots: NDArray[np.float64]
    index: NDArray[np.float64]
    kept: NDArray[np.float64]
    used: NDArray[np.float64]
    real: NDArray[np.float64]
    ceilings: tuple[float, float]
    n_groups: int
    n_fits: int

    def eta(self, facts: Numbers, ceiling: NDArray[np.float64]) -> NDArray[np.float64]:
        """The index: low where records speak, high where noise does."""
        return terms(facts, ceiling) @ self.index

    def along(self, table: NDArray[np.float64], eta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Columns of a table, read at an index."""
        columns = [np.interp(eta, self.knots, column) for column in np.atleast_2d(table.T)]
        return np.stack(columns, axis=-1)

    def band(self, facts: Facts, ceiling: NDArray[np.float64]) -> NDArray[np.float64]:
        """Quantiles of quality for each of some ceilings."""
        height = np.maximum(lift(facts.kind, ceiling, facts.null), LEAST_LIFT[facts.kind])
        kept = self.along(self.kept, self.eta(facts, ceiling))
        return quality_of(facts.kind, height[:, None] * kept, facts.null)


@dataclass(frozen=True)
class Law:
    """All kinds, as law.json has them."""

    content: Mapping[str, dict]

    @classmethod
    def read(cls) -> "Law":
        """The law that comes with the library."""
        return cls(json.loads(files("sparsedp.planning").joinpath("law.json").read_text()))

    @cached_property
    def defaults(self) -> str:
        """Fingerprint of the defaults that the law was measured with."""
        return str(self.content["measured"]["defaults"])

    def of(self, kind: Kind) -> Curves:
        """The law of a kind of target."""
        stored = self.content[kind]
        low, high = stored["ceilings"]
        return Curves(
            knots=np.array(stored["knots"]),
            index=np.array(stored["index"]),
            kept=np.array(stored["kept"]),
            used=np.array(stored["used"]),
            real=np.array(stored["real"]),
            ceilings=(low, high),
            n_groups=stored["n_groups"],
            n_fits=stored["n_fits"],
        )

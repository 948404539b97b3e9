"""The kinds of targets there are: labels, numbers within limits, and counts."""

from dataclasses import dataclass

import numpy as np

from sparsedp.data.gate.class_weight import class_shift


@dataclass(frozen=True)
class Classes:
    """Labels, one per record.

    Parameters
    ----------
    classes : tuple
        In the order of their codes.
    from_data : bool
        Whether they were found in the records, which then are not private.
    class_weight : tuple of float or None
        Public weights in the order of the classes, the largest of them 1; None where all are.
    """

    classes: tuple[object, ...]
    from_data: bool = False
    class_weight: tuple[float, ...] | None = None

    @property
    def bounds(self) -> None:
        """There are none."""

    @property
    def interval(self) -> None:
        """Margins are log odds."""

    @property
    def margin_shift(self) -> np.ndarray | None:
        """What class weights add to margins: they multiply the odds of classes by their ratio."""
        return None if self.class_weight is None else class_shift(self.class_weight)

    def declared(self) -> dict[str, object]:
        """For the record."""
        said: dict[str, object] = {
            "classes": list(self.classes),
            "classes_from_data": self.from_data,
        }
        if self.class_weight is not None:
            said["class_weight"] = list(self.class_weight)
        return said


@dataclass(frozen=True)
class Numbers:
    """Numbers within public limits, which solvers see as [-1, 1].

    Parameters
    ----------
    bounds : (float, float)
    """

    bounds: tuple[float, float]

    @classmethod
    def within(cls, bounds: tuple[float, float], *, symmetric: bool) -> "Numbers":
        """Limits as declared, or widened to be symmetric about zero."""
        low, high = bounds
        if symmetric:
            low, high = -max(abs(low), abs(high)), max(abs(low), abs(high))
        return cls((low, high))

    @property
    def classes(self) -> None:
        """There are none."""

    @property
    def class_weight(self) -> None:
        """There are no classes."""

    @property
    def margin_shift(self) -> None:
        """Margins are as they are."""

    @property
    def interval(self) -> tuple[float, float]:
        """The limits."""
        low, high = self.bounds
        return float(low), float(high)

    def declared(self) -> dict[str, object]:
        """For the record."""
        low, high = self.interval
        return {"lower": low, "upper": high}


@dataclass(frozen=True)
class Counts:
    """Counts from zero to a public limit; margins are logarithms of their means.

    Parameters
    ----------
    limit : float
    """

    limit: float

    @property
    def bounds(self) -> tuple[float, float]:
        """From none to the limit."""
        return 0.0, self.limit

    @property
    def classes(self) -> None:
        """There are none."""

    @property
    def class_weight(self) -> None:
        """There are no classes."""

    @property
    def margin_shift(self) -> None:
        """Margins are as they are."""

    @property
    def interval(self) -> None:
        """Margins are logarithms."""

    def declared(self) -> dict[str, object]:
        """For the record."""
        return {"lower": 0.0, "upper": float(self.limit)}

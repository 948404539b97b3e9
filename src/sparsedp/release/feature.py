"""A feature that a model uses, and how labels and features are called for readers."""

from dataclasses import dataclass

import numpy as np

from sparsedp.data.bend import Bend, Shape, shape_of


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
        One per output: the slope between the limits.
    knots : tuple of float
        Ascending from the lower to the upper limit; empty where the effect is a line.
    bends : tuple of tuple of float
        For each output, what the effect adds to that line at the knots: zero at both ends.
    """

    index: int
    name: str | None
    lower: float
    upper: float
    coef: tuple[float, ...]
    knots: tuple[float, ...] = ()
    bends: tuple[tuple[float, ...], ...] = ()

    @property
    def label(self) -> str:
        """What a reader calls it: its name, or x and its number."""
        return f"x{self.index}" if self.name is None else self.name

    @property
    def effect(self) -> tuple[float, ...]:
        """Change of each output as the feature goes from its lower to its upper bound."""
        return tuple(value * (self.upper - self.lower) for value in self.coef)

    def bend(self, position: int) -> Bend | None:
        """What the effect adds to a line, for a table that has the feature at this position."""
        return Bend(position, np.array(self.knots), np.array(self.bends).T) if self.knots else None

    @property
    def shape(self) -> Shape:
        """The effect as a whole."""
        with np.errstate(all="ignore"):  # files from strangers may hold any numbers
            return shape_of(np.array(self.coef), self.lower, self.upper, self.bend(self.index))

    @property
    def swing(self) -> tuple[float, ...]:
        """How far each output moves in all, from the lowest to the highest point of the effect."""
        if not self.knots:
            return tuple(map(abs, self.effect))
        with np.errstate(all="ignore"):
            return tuple(np.ptp(self.shape.values, axis=0).tolist())

    def to_dict(self) -> dict[str, object]:
        """The line, for the model file, where bends have a place of their own."""
        return {name: value for name, value in vars(self).items() if name not in ("knots", "bends")}


def label_text(label: object) -> str:
    """A label as a reader writes it: 1 for 1.0."""
    return f"{label:.15g}" if isinstance(label, float) else str(label)

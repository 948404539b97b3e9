"""A feature that a model uses, and how labels and features are called for readers."""

from dataclasses import dataclass


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
        One per output.
    """

    index: int
    name: str | None
    lower: float
    upper: float
    coef: tuple[float, ...]

    @property
    def label(self) -> str:
        """What a reader calls it: its name, or x and its number."""
        return f"x{self.index}" if self.name is None else self.name

    @property
    def effect(self) -> tuple[float, ...]:
        """Change of each output as the feature goes from its lower to its upper bound."""
        return tuple(value * (self.upper - self.lower) for value in self.coef)


def label_text(label: object) -> str:
    """A label as a reader writes it: 1 for 1.0."""
    return f"{label:.15g}" if isinstance(label, float) else str(label)

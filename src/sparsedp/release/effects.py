"""What a coefficient says in words: a step of the feature, and what becomes of the prediction."""

import math
from dataclasses import dataclass

from sparsedp.data.schema.kinds.category import Category
from sparsedp.release.feature import Feature
from sparsedp.release.model import PublishedModel
from sparsedp.release.pair import Pair

MOST_PAIRS = 40
"""Interactions beyond these are in the model file only."""

MOST_STEPS = 200
"""A range of up to as many units is told unit by unit (a year of age, a point of a score)."""


@dataclass(frozen=True)
class Effect:
    """A feature's effect for readers.

    Parameters
    ----------
    feature : Feature
    step : str
        "yes instead of no", "M instead of F", "3 instead of 1", or "each 1 more". Of an effect that
        is not a line the two values between which it is largest, as in "45 instead of 20".
    change : str
        Of the prediction, for that step: "+0.3", "odds × 1.35" or "count × 1.35". Empty for more
        than two classes, whose coefficients stand one by one.
    declared : (float, float) or None
        The declared bounds, where predictions clip to narrower ones.
    """

    feature: Feature
    step: str
    change: str
    declared: tuple[float, float] | None


@dataclass(frozen=True)
class Joint:
    """What a pair of features adds, for readers.

    Parameters
    ----------
    pair : Pair
    names : (str, str)
        Of the features.
    alike, unlike : str
        What is added where both features are at their upper or both at their lower limits, and
        where they are at different ends. Empty for more than two classes, whose weights stand one
        by one.
    """

    pair: Pair
    names: tuple[str, str]
    alike: str
    unlike: str

    @property
    def label(self) -> str:
        """As in "age × bmi"."""
        return " × ".join(self.names)


def joint_effects_of(model: PublishedModel) -> list[Joint]:
    """What pairs of features add, the heaviest first.

    Privacy
    -------
    Computed from the model file alone.
    """
    labels = {feature.index: feature.label for feature in model.features}
    found = []
    for pair in sorted(model.interactions, key=lambda pair: -pair.weight):
        first, second = (labels[index] for index in pair.features)
        changes = [_change(model.task, sign * pair.weights[0]) for sign in (1, -1)]
        alike, unlike = changes if len(pair.weights) == 1 else ("", "")
        found.append(Joint(pair, (first, second), alike, unlike))
    return found


def effects_of(model: PublishedModel) -> dict[int, Effect]:
    """The effect of each used feature, by its index.

    Privacy
    -------
    Computed from the model file alone.
    """
    binary = model.privacy["bounds"].get("binary", [])
    found, levels = {}, _levels(model)
    joined = {index for pair in model.interactions for index in pair.features}
    for feature, lowest, highest in zip(model.features, *model.declared(), strict=True):
        narrower = feature.lower > lowest or feature.upper < highest
        two = binary is True or (isinstance(binary, list) and feature.index in binary)
        if feature.knots:
            margin, step = _largest(feature)
        else:
            # A feature of two values that is clipped has no single slope from one to the other.
            size, step = _two(feature) if two and not narrower else _each(feature)
            margin, step = feature.coef[0] * size, levels.get(feature.name, step)
        change = _change(model.task, margin) if len(feature.coef) == 1 else ""
        if feature.index in joined and not any(feature.swing):  # it acts only with another one
            step, change = "alone", "nothing"
        declared = (float(lowest), float(highest)) if narrower else None
        found[feature.index] = Effect(feature, step, change, declared)
    return found


def _levels(model: PublishedModel) -> dict[str | None, str]:
    """What columns of categories that are compared with one of them say, by their names."""
    declared = {} if model.schema is None else model.schema.features
    found: dict[str | None, str] = {}
    for name, kind in declared.items():
        if isinstance(kind, Category) and kind.compared_with >= 0:
            reference = kind.categories[kind.compared_with]
            values = [value for value in kind.categories if value != reference]
            columns = kind.columns(name)[: len(values)]
            for column, value in zip(columns, values, strict=True):
                found[column.name] = f"{value} instead of {reference}"
    return found


def _largest(feature: Feature) -> tuple[float, str]:
    """Between the lowest and the highest point of a shape, from the smaller value to the larger."""
    shape = feature.shape
    values = shape.values[:, 0]
    first, last = sorted((int(values.argmin()), int(values.argmax())))
    step = f"{shape.knots[last]:.4g} instead of {shape.knots[first]:.4g}".replace("-", "−")
    return float(values[last] - values[first]), step


def _two(feature: Feature) -> tuple[float, str]:
    if (feature.lower, feature.upper) == (0, 1):
        return 1.0, "yes instead of no"
    return feature.upper - feature.lower, f"{feature.upper:g} instead of {feature.lower:g}"


def _each(feature: Feature) -> tuple[float, str]:
    """One unit; of a very wide or narrow range the power of ten that is a fifth to a fiftieth."""
    width = feature.upper - feature.lower
    size = 1.0 if 1 < width <= MOST_STEPS else 10.0 ** math.floor(math.log10(width / 5))
    return size, f"each {size:,.12g} more"


def _change(task: str, margin: float) -> str:
    """What a step of the margin means; beyond what can be written, a bound."""
    if task == "linear":
        return f"{margin:+.3g}".replace("-", "−")
    what = "count" if task == "count" else "odds"
    factor = math.exp(min(max(margin, -math.log(1e6)), math.log(1e6)))
    if factor >= 999_999:
        return f"{what} × over 1,000,000"
    return f"{what} × {factor:.3g}" if factor > 1.1e-6 else f"{what} × below 0.000001"

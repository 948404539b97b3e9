"""Features that interact, drawn for the report: the effect of one where the other is low or high.

The term of a pair alone looks alike for all pairs. What it does to an effect can be read.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsedp.data.interaction import unit_values
from sparsedp.release.effects import Joint
from sparsedp.release.feature import Feature
from sparsedp.release.model import PublishedModel
from sparsedp.release.panels.scale import Line, Scale

MOST_PANELS = 12
"""Pairs beyond these are in the table or in the model file only."""


@dataclass(frozen=True)
class PairPanel:
    """The effect of one feature at both ends of another.

    Parameters
    ----------
    joint : Joint
    feature, other : Feature
        Whose effect is drawn, and which one decides about it.
    output : str
        Of several classes the one that the pair moves the most.
    low, high : Line
        Where the other feature is at its lower and at its upper limit.
    """

    joint: Joint
    feature: Feature
    other: Feature
    output: str
    low: Line
    high: Line


@dataclass(frozen=True)
class PairPanels:
    """Pairs on one vertical scale."""

    shown: tuple[PairPanel, ...]
    scale: Scale


def pair_panels_of(model: PublishedModel, joint: list[Joint]) -> PairPanels:
    """Draw these pairs, in their order.

    Privacy
    -------
    Drawn from the model file alone.
    """
    features = {feature.index: feature for feature in model.features}
    found = []
    for each in joint:
        feature, other = (features[index] for index in each.pair.features)
        output = int(np.abs(each.pair.weights).argmax())
        low, high = (_effect(feature, each.pair.weights[output], output, end) for end in (-1, 1))
        # A file from a stranger may hold numbers that are finite only one by one.
        if np.isfinite([low, high]).all():
            found.append((each, feature, other, output, low, high))
    found = found[:MOST_PANELS]
    scale = Scale.of(values for *_, low, high in found for values in (low, high))
    return PairPanels(
        tuple(
            PairPanel(
                joint=each,
                feature=feature,
                other=other,
                output=model.outputs[output],
                low=scale.line(f"{other.label} low", 0, feature, low),
                high=scale.line(f"{other.label} high", 1, feature, high),
            )
            for each, feature, other, output, low, high in found
        ),
        scale,
    )


def _effect(feature: Feature, weight: float, output: int, end: int) -> NDArray[np.float64]:
    """What a feature adds at its knots, compared with its lower limit, at one end of the other."""
    shape = feature.shape
    units = unit_values(shape.knots, feature.lower, feature.upper)
    with np.errstate(all="ignore"):
        return shape.values[:, output] + weight * end * (units - units[0])

"""Effects that are not lines, drawn for the report: one small panel each, all on one scale."""

from dataclasses import dataclass

import numpy as np

from sparsedp.release.feature import Feature
from sparsedp.release.model import PublishedModel
from sparsedp.release.panels.scale import Line, Scale

MOST_PANELS = 24
"""Shapes beyond these are in the model file only."""

MOST_LINES = 4
"""Of the classes of one panel: those that the feature moves the most."""


@dataclass(frozen=True)
class Panel:
    """The shape of one feature."""

    feature: Feature
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Panels:
    """Shapes on one vertical scale.

    Parameters
    ----------
    shown : tuple of Panel
    n_more : int
        Shapes that are not drawn.
    scale : Scale
    lines_left_out : bool
        Whether there are more classes than lines.
    """

    shown: tuple[Panel, ...]
    n_more: int
    scale: Scale
    lines_left_out: bool


def panels_of(model: PublishedModel, features: list[Feature]) -> Panels:
    """Draw the shapes of these features, in their order.

    Privacy
    -------
    Drawn from the model file alone.
    """
    shaped = [feature for feature in features if feature.knots]
    # A file from a stranger may hold numbers that are finite only one by one.
    drawn = [f for f in shaped if np.isfinite(f.swing).all()][:MOST_PANELS]
    scale = Scale.of(feature.shape.values for feature in drawn)

    def panel(feature: Feature) -> Panel:
        values = feature.shape.values
        chosen = sorted(np.argsort([-move for move in feature.swing])[:MOST_LINES].tolist())
        lines = []
        for place, j in enumerate(chosen):
            # A class has one color in all panels, as long as there are enough of them.
            color = j if len(model.outputs) <= MOST_LINES else place
            lines.append(scale.line(model.outputs[j], color, feature, values[:, j]))
        return Panel(feature, tuple(lines))

    return Panels(
        shown=tuple(panel(feature) for feature in drawn),
        n_more=len(shaped) - len(drawn),
        scale=scale,
        lines_left_out=len(model.outputs) > MOST_LINES,
    )

"""Effects that are not lines, drawn for the report: one small panel each, all on one scale."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsedp.release.feature import Feature
from sparsedp.release.model import PublishedModel

MOST_PANELS = 24
"""Shapes beyond these are in the model file only."""

MOST_LINES = 4
"""Of the classes of one panel: those that the feature moves the most."""

WIDTH, HEIGHT, LEFT, TOP = 240.0, 120.0, 34.0, 8.0
"""Of a drawing, and where its axes start, in its own units."""

BEYOND = 0.06
"""How far lines continue beyond the limits, where effects are constant."""


@dataclass(frozen=True)
class Line:
    """One output: its name, a number for its color, and points for SVG."""

    output: str
    number: int
    points: str


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
    ticks : tuple of (float, float)
        Values of the vertical axis (lowest, zero and highest), and where they are.
    limits : (float, float)
        Where the lower and the upper limit are, from left to right.
    lines_left_out : bool
        Whether there are more classes than lines.
    """

    shown: tuple[Panel, ...]
    n_more: int
    ticks: tuple[tuple[float, float], ...]
    limits: tuple[float, float]
    lines_left_out: bool

    width, height, left = WIDTH, HEIGHT, LEFT


def panels_of(model: PublishedModel, features: list[Feature]) -> Panels:
    """Draw the shapes of these features, in their order.

    Privacy
    -------
    Drawn from the model file alone.
    """
    shaped = [feature for feature in features if feature.knots]
    # A file from a stranger may hold numbers that are finite only one by one.
    drawn = [f for f in shaped if np.isfinite(f.swing).all()][:MOST_PANELS]
    values = [0.0, *(float(value) for f in drawn for value in f.shape.values.flat)]
    low, high = min(values), max(values)
    span = high - low if 0 < high - low < np.inf else 1.0
    right = WIDTH - TOP
    start = LEFT + BEYOND * (right - LEFT)
    end = right - BEYOND * (right - LEFT)

    def vertical(value: NDArray[np.float64] | float) -> NDArray[np.float64]:
        return np.asarray(HEIGHT - TOP - (HEIGHT - 2 * TOP) * (np.asarray(value) - low) / span)

    def panel(feature: Feature) -> Panel:
        shape = feature.shape
        across = (shape.knots - feature.lower) / (feature.upper - feature.lower)
        across = np.concatenate([[LEFT], start + (end - start) * across, [right]])
        chosen = sorted(np.argsort([-move for move in feature.swing])[:MOST_LINES].tolist())
        lines = []
        for place, j in enumerate(chosen):
            up = vertical(shape.values[:, j])
            ends = np.concatenate([up[:1], up, up[-1:]])
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, ends, strict=True))
            # A class has one color in all panels, as long as there are enough of them.
            color = j if len(model.outputs) <= MOST_LINES else place
            lines.append(Line(model.outputs[j], color, points))
        return Panel(feature, tuple(lines))

    # Numbers that would stand upon each other are left out.
    marks = [low, *([0.0] if min(-low, high) > span / 8 else []), high]
    return Panels(
        shown=tuple(panel(feature) for feature in drawn),
        n_more=len(shaped) - len(drawn),
        ticks=tuple((mark, float(vertical(mark))) for mark in marks),
        limits=(start, end),
        lines_left_out=len(model.outputs) > MOST_LINES,
    )

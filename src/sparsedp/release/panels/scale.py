"""Where numbers stand in the small drawings of the report, which share one vertical scale."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsedp.release.feature import Feature

WIDTH, HEIGHT, LEFT, TOP = 240.0, 120.0, 34.0, 8.0
"""Of a drawing, and where its axes start, in its own units."""

BEYOND = 0.06
"""How far lines continue beyond the limits, where effects are constant."""

RIGHT = WIDTH - TOP
START, END = LEFT + BEYOND * (RIGHT - LEFT), RIGHT - BEYOND * (RIGHT - LEFT)


@dataclass(frozen=True)
class Line:
    """A curve: what it is of, a number for its color, and points for SVG."""

    output: str
    number: int
    points: str


@dataclass(frozen=True)
class Scale:
    """The vertical axis of several drawings, whose horizontal ones go from limit to limit.

    Parameters
    ----------
    low, high : float
        The lowest and the highest value, zero among them.
    """

    low: float
    high: float

    width, height, left, right = WIDTH, HEIGHT, LEFT, RIGHT
    limits = START, END
    """Where the lower and the upper limit of a feature are, from left to right."""

    @classmethod
    def of(cls, values: Iterable[NDArray[np.float64]]) -> "Scale":
        """A scale that all these values are on."""
        ends = [0.0, *(float(value) for each in values for value in each.flat)]
        return cls(min(ends), max(ends))

    @property
    def half(self) -> float:
        """Half of the way from the lowest to the highest value; 1 where there is nothing to draw.

        Halves are taken first: the whole way may be more than floating point can hold.
        """
        return self.high / 2 - self.low / 2 or 1.0

    @property
    def ticks(self) -> tuple[tuple[float, float], ...]:
        """Values of the axis (lowest, zero and highest), and where they are."""
        # Numbers that would stand upon each other are left out.
        zero = [0.0] if min(-self.low, self.high) > self.half / 4 else []
        return tuple((mark, float(self._up(mark))) for mark in [self.low, *zero, self.high])

    def line(self, output: str, number: int, feature: Feature, values: NDArray[np.float64]) -> Line:
        """A curve that has these values at the knots of a feature's shape."""
        across = feature.shape.knots / 2 - feature.lower / 2
        across /= feature.upper / 2 - feature.lower / 2
        across = np.concatenate([[LEFT], START + (END - START) * across, [RIGHT]])
        up = self._up(values)
        ends = np.concatenate([up[:1], up, up[-1:]])
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, ends, strict=True))
        return Line(output, number, points)

    def _up(self, value: NDArray[np.float64] | float) -> NDArray[np.float64]:
        part = (np.asarray(value) / 2 - self.low / 2) / self.half
        return np.asarray(HEIGHT - TOP - (HEIGHT - 2 * TOP) * part)

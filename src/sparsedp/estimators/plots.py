"""Drawings of a fitted model's effects (needs matplotlib)."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sparsedp.data.bend import Shape
from sparsedp.estimators.border import Estimator
from sparsedp.estimators.shapes import one_shape, shapes_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS, WIDTH, HEIGHT = 3, 2.9, 2.1
"""Panels beside each other, and the size of one in inches."""

BEYOND = 0.07
"""How far a drawing continues beyond the limits, as a part of their distance."""


def plot_shapes(
    estimator: Estimator,
    features: Sequence[str | int] | None,
    *,
    most: int,
    margin: str,
    outputs: Sequence[str],
) -> "Figure":
    """A panel per feature, the largest effects first; all panels have the same vertical axis.

    Parameters
    ----------
    estimator : fitted estimator
    features : sequence of str or int, or None
        Which ones, in this order; None for the used ones.
    most : int
        Panels, where features are not given.
    margin : str
        What the vertical axis shows.
    outputs : sequence of str
        What the lines are called, if there are several.
    """
    import matplotlib.pyplot as plt

    if features is None:
        found = sorted(shapes_of(estimator).items(), key=lambda item: -_swing(item[1]))[:most]
    else:
        found = [(feature, one_shape(estimator, feature)) for feature in features]
    n_columns = max(1, min(COLUMNS, len(found)))
    n_rows = max(1, math.ceil(len(found) / n_columns))
    figure, axes = plt.subplots(
        n_rows,
        n_columns,
        figsize=(WIDTH * n_columns + 0.4, HEIGHT * n_rows + (0.6 if len(outputs) > 1 else 0.3)),
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for ax, (feature, shape) in zip(axes.flat, found, strict=False):
        _draw(ax, shape, outputs)
        ax.set_title(shown(feature), fontsize=10)
    for ax in axes.flat[len(found) :]:
        ax.set_visible(False)
    figure.supylabel(f"effect on the\n{short(margin)}", fontsize=10)
    if not found:
        figure.suptitle("The model uses no feature.", fontsize=10)
    elif len(outputs) > 1:
        figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside lower center", ncol=6)
    return figure


def _draw(ax: "Axes", shape: Shape, outputs: Sequence[str]) -> None:
    lower, upper = shape.knots[0], shape.knots[-1]
    beyond = BEYOND * (upper - lower)
    ax.axhline(0, color="0.75", linewidth=0.8, zorder=0)
    for limit in (lower, upper):
        ax.axvline(limit, color="0.75", linewidth=0.8, linestyle=":", zorder=0)
    for output, values in zip(outputs, shape.values.T, strict=True):
        (line,) = ax.plot(shape.knots, values, linewidth=1.6, label=output)
        for x, y in ((lower - beyond, values[0]), (upper + beyond, values[-1])):
            end = lower if x < lower else upper
            ax.plot([x, end], [y, y], color=line.get_color(), linewidth=1.6, alpha=0.35)
    ax.margins(x=0)
    ax.tick_params(labelsize=8)
    ax.spines[["top", "right"]].set_visible(False)


def _swing(shape: Shape) -> float:
    return float(np.ptp(shape.values, axis=0).max())


def shown(feature: str | int) -> str:
    """What a drawing calls a feature: its name, or x and its position."""
    return f"x{feature}" if isinstance(feature, int) else short(feature)


def short(name: str) -> str:
    """As much of a name as a drawing has place for."""
    return name if len(name) <= 30 else name[:27] + "..."

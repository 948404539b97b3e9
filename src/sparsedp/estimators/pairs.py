"""Drawings of what pairs of features add together (needs matplotlib)."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sparsedp.data.interaction import Interaction, unit_values
from sparsedp.estimators.border import Estimator
from sparsedp.estimators.plots import COLUMNS, short, shown
from sparsedp.estimators.shapes import names_or_positions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

WIDTH, HEIGHT = 2.9, 2.6
"""Of a panel, in inches."""

STEPS = 101
"""Colors from one limit of a feature to the other."""

MOST_TICKS = 6
"""Steps between the numbers below a panel, which may be long."""


def plot_interactions(
    estimator: Estimator, *, most: int, margin: str, outputs: Sequence[str]
) -> "Figure":
    """A map per pair of features, the heaviest first, in colors that mean the same in all of them.

    The term alone is drawn, without the effect of each feature: that is what `plot_shapes` draws,
    and beside it a small interaction would not be seen.

    Parameters
    ----------
    estimator : fitted estimator
    most : int
        Panels.
    margin : str
        What the colors show.
    outputs : sequence of str
        What margins are called, if there are several: each panel then has the one of most weight.
    """
    import matplotlib.pyplot as plt

    check_is_fitted(estimator)
    found = sorted(estimator.interactions_, key=lambda each: -_weight(each))[:most]
    n_columns = max(1, min(COLUMNS, len(found)))
    n_rows = max(1, math.ceil(len(found) / n_columns))
    figure, axes = plt.subplots(
        n_rows,
        n_columns,
        figsize=(WIDTH * n_columns + 1.0, HEIGHT * n_rows + 0.2),
        squeeze=False,
        layout="constrained",
    )
    for ax in axes.flat[len(found) :]:
        ax.set_visible(False)
    if not found:
        figure.suptitle("No features of the model interact.", fontsize=10)
        return figure
    limit = max(map(_weight, found))
    drawn = [
        _draw(ax, estimator, interaction, limit, outputs)
        for ax, interaction in zip(axes.flat, found, strict=False)
    ]
    bar = figure.colorbar(drawn[0], ax=axes, shrink=0.9, aspect=30)
    bar.set_label(f"added to the\n{short(margin)}", fontsize=10)
    bar.ax.tick_params(labelsize=8)
    return figure


def _draw(
    ax: "Axes",
    estimator: Estimator,
    interaction: Interaction,
    limit: float,
    outputs: Sequence[str],
) -> "AxesImage":
    """One panel: features in their own units, the first one from left to right."""
    named, (lower, upper) = names_or_positions(estimator), estimator.clip_bounds_
    across, up = ((float(lower[j]), float(upper[j])) for j in interaction.features)
    first, second = (unit_values(np.linspace(*ends, STEPS), *ends) for ends in (across, up))
    output = int(np.abs(interaction.weights).argmax())
    term = interaction.at(np.tile(first, STEPS), np.repeat(second, STEPS))[:, output]
    image = ax.imshow(
        term.reshape(STEPS, STEPS),
        cmap="RdBu_r",
        vmin=-limit,
        vmax=limit,
        origin="lower",
        extent=(*across, *up),
        aspect="auto",
        interpolation="bilinear",
    )
    ax.set_xlabel(shown(named[interaction.first]), fontsize=10)
    ax.set_ylabel(shown(named[interaction.second]), fontsize=10)
    ax.tick_params(labelsize=8)
    ax.locator_params(axis="x", nbins=MOST_TICKS)
    if len(outputs) > 1:
        ax.set_title(f"class {short(outputs[output])}", fontsize=10)
    return image


def _weight(interaction: Interaction) -> float:
    return float(np.abs(interaction.weights).max())

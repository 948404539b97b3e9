"""Figures: the same colors for the same kind of result, saved as PNG and SVG."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")  # no display
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

COLORS = {
    "paper": "black",
    "published": "#d55e00",
    "proven": "#cc79a7",
    "sound": "#0072b2",
    "pursuit": "#009e73",
    "reference": "#666666",
    "null": "#aaaaaa",
}
"""By kind of result: printed in the paper, its method with its noise, the same with noise that is
proven, the improved variant, Pursuit, a model without privacy, the best constant. Colors that
color-blind people can tell apart."""

plt.rcParams.update(
    {
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": "#e5e5e5",
        "axes.axisbelow": True,
        "legend.frameon": False,
        "svg.hashsalt": "sparsedp",  # the same figure gives the same file
        "svg.fonttype": "none",  # text stays text
    }
)


def axes(
    n_columns: int = 1, n_rows: int = 1, *, width: float = 4.5, height: float = 3.2
) -> tuple[Figure, np.ndarray]:
    """A figure and its axes, always as an array of shape (n_rows, n_columns)."""
    return plt.subplots(
        n_rows,
        n_columns,
        figsize=(width * n_columns, height * n_rows),
        squeeze=False,
        layout="constrained",
    )


def series(
    ax: Axes,
    x: Sequence[float],
    samples: Sequence[Sequence[float] | np.ndarray],
    *,
    label: str,
    color: str,
    marker: str = "o",
    linestyle: str = "-",
) -> None:
    """Means of samples over x, with standard errors as bars."""
    means = [np.mean(values) for values in samples]
    errors = [
        np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
        for values in samples
    ]
    ax.errorbar(
        x,
        means,
        errors,
        label=label,
        color=color,
        marker=marker,
        linestyle=linestyle,
        markersize=3.5,
        capsize=2,
        linewidth=1.3,
    )


def level(ax: Axes, value: float, *, label: str, color: str, linestyle: Any = "--") -> None:
    """A reference: a horizontal line."""
    ax.axhline(value, label=label, color=color, linestyle=linestyle, linewidth=1)


def epsilon_axis(ax: Axes, epsilons: Sequence[float]) -> None:
    """A logarithmic axis with a tick at each epsilon."""
    ax.set_xscale("log")
    ax.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
    ax.minorticks_off()
    ax.set_xlabel("epsilon")


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write name.png and name.svg and forget the figure."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # placed once, for both files
    figure.savefig(folder / f"{name}.png", dpi=150)
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)

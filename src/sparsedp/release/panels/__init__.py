"""Drawings of the report: effects that bend, and features that interact."""

from sparsedp.release.panels.pairs import PairPanel, PairPanels, pair_panels_of
from sparsedp.release.panels.scale import HEIGHT, WIDTH, Line, Scale
from sparsedp.release.panels.shapes import MOST_LINES, MOST_PANELS, Panel, Panels, panels_of

__all__ = [
    "HEIGHT",
    "MOST_LINES",
    "MOST_PANELS",
    "WIDTH",
    "Line",
    "PairPanel",
    "PairPanels",
    "Panel",
    "Panels",
    "Scale",
    "pair_panels_of",
    "panels_of",
]

"""Constraint sets: vertices, thresholds, projections."""

from sparsedp.sets.l0_ball import L0Ball, n_features_used
from sparsedp.sets.l1_ball import L1Ball

__all__ = ["L0Ball", "L1Ball", "n_features_used"]

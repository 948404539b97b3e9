"""Constraint sets that models are held to: L1 balls and L0 balls.

A set knows its vertices, thresholds and steps. It sees weights and gradients, never a record.
"""

from sparsedp.sets.l0_ball import L0Ball, n_features_used
from sparsedp.sets.l1_ball import L1Ball

__all__ = ["L0Ball", "L1Ball", "n_features_used"]

"""What the rounding of sums over records may add to a sensitivity."""

SUMMATION_SLACK = 1 + 1e-6
"""Declared sensitivities grow by this factor: sums in floating point depend on their order."""

"""Rows as the linear rivals want them: of norm 1, made of one record and its bounds alone."""

import numpy as np
from scipy import sparse


def unit_rows(table, X):
    """Features scaled by their bounds, a constant, and the row divided by its norm.

    A feature that starts at zero goes to [0, 1], so that indicators stay sparse, others to
    [-1, 1]. Text has rows of norm 1 already: the constant is 1 and both shrink by sqrt 2.
    """
    if sparse.issparse(X):
        ones = sparse.csr_array(np.ones((X.shape[0], 1)))
        return sparse.csr_array(sparse.hstack([X, ones]) / np.sqrt(2))
    width = table.upper - table.lower
    unit = (np.clip(X, table.lower, table.upper) - table.lower) / width
    unit = np.where(table.lower == 0, unit, 2 * unit - 1)
    rows = np.hstack([unit, np.ones((len(X), 1))])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def unit_target(part):
    """The target in [-1, 1], and the way back."""
    low, high = part.table.target_bounds or (0.0, 1.0)
    unit = 2 * (np.clip(part.y, low, high) - low) / (high - low) - 1
    return unit, lambda found: low + (np.clip(found, -1, 1) + 1) / 2 * (high - low)

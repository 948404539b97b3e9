"""Frank-Wolfe without noise, the reference of Khanna et al. (2024), for very many steps.

Every step takes the vertex with the steepest descent, as their listing does, but looks only at
columns that can be the steepest: since the last full gradient, that of column k has changed by at
most ||x_k|| ||q - q_before||, with q the predicted probabilities. If that does not settle it, all
columns are computed. So the path is that of the plain method up to rounding, in less time where
columns are many.
"""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit


def frank_wolfe(X: Any, y: np.ndarray, radius: float, n_steps: int) -> np.ndarray:
    """The weights after so many steps of size 2 / (t + 2), t from one."""
    X: Any = sparse.csc_array(X) if sparse.issparse(X) else np.asfortranarray(X)
    squares = X.multiply(X) if sparse.issparse(X) else X * X
    lengths = np.sqrt(np.asarray(squares.sum(axis=0)).ravel())
    n, d = X.shape
    w, margins = np.zeros(d), np.zeros(n)
    near = np.arange(0)
    columns = np.empty((n, 0), order="F")
    full, q_full = np.full(d, np.inf), np.zeros(n)
    for t in range(1, n_steps + 1):
        q = expit(margins)
        g = columns.T @ (q - y)
        steepest = np.abs(g).max(initial=0.0)
        limits = full + lengths * np.linalg.norm(q - q_full)
        limits[near] = 0.0
        if limits.max() >= steepest:
            gradient = X.T @ (q - y)
            full, q_full = np.abs(gradient), q
            # Those that may soon be the steepest, and those in use.
            wanted = np.union1d(np.flatnonzero(w), np.argsort(-full)[:NEAREST])
            if not np.array_equal(wanted, near):
                near = wanted
                columns = _dense(X[:, near])
            g = gradient[near]
        k = int(np.abs(g).argmax())
        step = 2 / (t + 2)
        vertex = -radius * np.sign(g[k])
        w *= 1 - step
        w[near[k]] += step * vertex
        margins *= 1 - step
        margins += step * vertex * columns[:, k]
    return w


NEAREST = 24
"""Columns that are looked at in every step, besides those in use."""


def _dense(X: Any) -> np.ndarray:
    return np.asfortranarray(X.toarray() if sparse.issparse(X) else X)

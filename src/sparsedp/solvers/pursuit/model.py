"""From the weights of columns to a model: coefficients, and what bends beside them."""

import numpy as np

from sparsedp.data.bend import Bend
from sparsedp.solvers.pursuit.columns.shapes import Shapes
from sparsedp.solvers.solver import SolutionPath


def straightened(
    shapes: Shapes, features: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, tuple[Bend, ...]]:
    """Chords of the features, what they add to the intercept, and the bends that they leave.

    Parameters
    ----------
    shapes : Shapes
    features : ndarray of shape (k,)
    weights : ndarray of shape (columns, n_outputs)
        Of the columns of these features, one after another.
    """
    sizes = shapes.sizes(features)
    starts = np.cumsum(sizes) - sizes
    slopes, constant, bends = weights[starts], np.zeros(weights.shape[1]), []
    for i in np.flatnonzero(shapes.bends[features]):
        feature = features[i]
        heights = shapes.columns(feature) @ weights[starts[i] : starts[i] + sizes[i]]
        slopes[i] = (heights[-1] - heights[0]) / 2
        middle = (heights[-1] + heights[0]) / 2
        constant += middle
        knots = shapes.knots[feature]
        rest = heights - middle - knots[:, None] * slopes[i]
        rest[[0, -1]] = 0
        if rest.any():
            bends.append(Bend(int(feature), knots, rest))
    return slopes, constant, tuple(bends)


def path_of(
    shapes: Shapes, features: np.ndarray, order: np.ndarray, nearest: np.ndarray, first: int
) -> SolutionPath:
    """The models with fewer features, from the weights of their columns.

    Parameters
    ----------
    shapes : Shapes
    features : ndarray
    order : ndarray of shape (k,)
        Positions among these features, in the order in which they enter.
    nearest : ndarray of shape (k, columns, n_outputs)
        Weights of the models, the intercept first where there is one.
    first : int
        1 with an intercept, else 0.
    """
    k, _, n_outputs = nearest.shape
    entered, intercepts = np.zeros((k, k, n_outputs)), nearest[:, :first].sum(axis=1)
    bends = []
    for i, weights in enumerate(nearest):
        slopes, constant, some = straightened(shapes, features, weights[first:])
        entered[i] = slopes[order]
        intercepts[i] += constant
        bends.append(some)
    return SolutionPath(features[order], entered, intercepts, tuple(bends))

"""From the weights of columns to a model: coefficients, and what bends beside them."""

import numpy as np

from sparsedp.data.bend import Bend, BendTable, PathBends
from sparsedp.data.interaction import Interaction
from sparsedp.solvers.pursuit.columns.pairs import Pairs
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
    slopes, constants, bends = _all_straightened(shapes, features, weights[None])
    return slopes[0], constants[0], bends[0] if bends else ()


def _all_straightened(
    shapes: Shapes, features: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, PathBends]:
    """The same for several models, (models, columns, n_outputs)."""
    sizes = shapes.sizes(features)
    starts = np.cumsum(sizes) - sizes
    slopes, constants = weights[:, starts], np.zeros((len(weights), weights.shape[2]))
    bent = np.flatnonzero(shapes.bends[features])
    rests = []
    for i in bent:
        feature = features[i]
        heights = shapes.columns(feature) @ weights[:, starts[i] : starts[i] + sizes[i]]
        slopes[:, i] = (heights[:, -1] - heights[:, 0]) / 2
        middle = (heights[:, -1] + heights[:, 0]) / 2
        constants += middle
        lines = shapes.knots[feature][:, None] * slopes[:, None, i]
        rests.append(heights - middle[:, None] - lines)
        rests[-1][:, [0, -1]] = 0
    if not rests:
        return slopes, constants, ((),) * len(weights)
    knots = tuple(shapes.knots[features[i]] for i in bent)
    return slopes, constants, BendTable(tuple(map(int, features[bent])), knots, tuple(rests))


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
    slopes, constants, bends = _all_straightened(shapes, features, nearest[:, first:])
    intercepts = nearest[:, :first].sum(axis=1) + constants
    return SolutionPath(features[order], slopes[:, order], intercepts, bends)


def interactions_of(
    pairs: Pairs, features: np.ndarray, weights: np.ndarray
) -> tuple[Interaction, ...]:
    """Of the pairs whose weights, the last ones, are not zero."""
    of_pairs = weights[len(weights) - len(pairs) :]
    found = []
    for pair in np.flatnonzero(of_pairs.any(axis=1)):
        ends = features[pairs.first[pair]], features[pairs.second[pair]]
        lower, upper = sorted(map(int, ends))
        found.append(Interaction(lower, upper, of_pairs[pair]))
    return tuple(found)

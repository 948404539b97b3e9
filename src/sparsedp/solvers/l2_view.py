"""How methods of L2 geometry look at the data: short rows, and the units that keep them short."""

import math

import numpy as np

from sparsedp.data.dataset import Dataset


def l2_view(data: Dataset) -> Dataset:
    """The data in declared units where a row norm was declared for these, else the unit box."""
    return data if data.row_norm is None else data.declared_units()


def usual_row_norm(seen: Dataset, wanted: float | None) -> float:
    """Public norm beyond which rows count for less: as wanted, as declared, or sqrt(n_columns / 2).

    A row of the unit box may be as long as sqrt(n_columns), but rows of features spread evenly over
    their range are close to sqrt(n_columns / 3).
    """
    if wanted is not None:
        return min(wanted, seen.norm_bound)
    return seen.norm_bound if seen.row_norm is not None else math.sqrt(seen.n_columns / 2)


def from_unit(weights: np.ndarray, data: Dataset) -> np.ndarray:
    """Weights in unit coordinates to those of the view."""
    if data.row_norm is None:
        return weights
    features, constant = _split(weights, data)
    return _joined(data, *data.unit_map.to_original(features, constant))


def to_unit(weights: np.ndarray, data: Dataset) -> np.ndarray:
    """Weights in the coordinates of the view to unit coordinates."""
    if data.row_norm is None:
        return weights
    features, constant = _split(weights, data)
    return _joined(data, *data.unit_map.from_original(features, constant))


def _split(weights: np.ndarray, data: Dataset) -> tuple[np.ndarray, np.ndarray | float]:
    return weights[: data.n_features], weights[-1] if data.intercept else 0.0


def _joined(data: Dataset, features: np.ndarray, constant: np.ndarray) -> np.ndarray:
    if not data.intercept:
        return features
    return np.concatenate([features, np.reshape(constant, (1, *features.shape[1:]))])

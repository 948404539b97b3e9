"""Which features a model uses."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sparsedp.data.bend import Bend, bent
from sparsedp.data.interaction import Interaction, interacting
from sparsedp.data.storage import Array


def used(
    coef: Array, bends: Sequence[Bend] = (), interactions: Sequence[Interaction] = ()
) -> NDArray[np.bool_]:
    """Features with a coefficient, a bend or an interaction: a mask of shape (n_features,).

    Parameters
    ----------
    coef : ndarray of shape (n_outputs, n_features)
    bends : sequence of Bend
    interactions : sequence of Interaction
    """
    n_features = coef.shape[1]
    return coef.any(axis=0) | bent(bends, n_features) | interacting(interactions, n_features)

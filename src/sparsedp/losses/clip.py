"""Clip what records contribute; what is not a number contributes nothing."""

import numpy as np


def clipped(values: np.ndarray, bound: float) -> np.ndarray:
    """Values with no entry beyond ``bound``, in place; NaN becomes zero (private).

    NumPy's own clip lets NaN through, which would then be an unbounded contribution.
    """
    np.clip(values, -bound, bound, out=values)
    np.copyto(values, 0.0, where=np.isnan(values))
    return values

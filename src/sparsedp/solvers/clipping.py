"""Shrink what single records contribute, so that none contributes more than a bound."""

import numpy as np

from sparsedp._kernels import COMPILED

if COMPILED:
    from sparsedp._kernels import slopes as kernel
else:
    from sparsedp._kernels import slopes_reference as kernel


def shrink(slopes: np.ndarray, lengths: np.ndarray, bound: float) -> tuple[np.ndarray, np.ndarray]:
    """Shrink derivatives, in place, until derivative times length keeps the bound.

    A record's derivative is shrunk as a whole, so that for several classes it keeps its direction.

    Parameters
    ----------
    slopes : ndarray of shape (n,) or (n, K), contiguous
        A derivative for each record. Private.
    lengths : ndarray of shape (n,)
        What it is multiplied with. Private.
    bound : float
        For the product, in L2 norm.

    Returns
    -------
    slopes : ndarray
        The shrunk derivatives. Private.
    squares : ndarray of shape (n,)
        Square of the part of the bound, at most 1, that each record uses. Private.
    """
    squares = np.empty(len(slopes))
    if slopes.size == len(slopes):
        kernel.shrink(slopes.reshape(-1), lengths, bound, squares)
        return slopes, squares
    used = np.sqrt(np.einsum("ik,ik->i", slopes, slopes))
    used *= lengths
    used /= bound
    slopes /= np.maximum(used, 1)[:, None]
    return slopes, np.square(np.minimum(used, 1, out=used), out=squares)

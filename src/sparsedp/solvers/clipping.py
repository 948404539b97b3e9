"""Shrink what single records contribute, so that none contributes more than a bound."""

import numpy as np

from sparsedp._kernels import COMPILED

if COMPILED:
    from sparsedp._kernels.sums import slopes as kernel
else:
    from sparsedp._kernels.sums import slopes_reference as kernel


def shrink(
    residuals: np.ndarray, lengths: np.ndarray, bound: float
) -> tuple[np.ndarray, np.ndarray]:
    """Shrink residuals, in place, until residual times length keeps the bound.

    A record's residual is shrunk as a whole, so that for several classes it keeps its direction.
    One that is not a number, or whose product with the length is not a finite one, becomes zero:
    arithmetic that fails costs a record its say, and never its neighbors their privacy.

    Parameters
    ----------
    residuals : ndarray of shape (n,) or (n, K), contiguous
        A residual for each record. Private.
    lengths : ndarray of shape (n,)
        What it is multiplied with. Private.
    bound : float
        For the product, in L2 norm.

    Returns
    -------
    residuals : ndarray
        The shrunk residuals. Private.
    squares : ndarray of shape (n,)
        Square of the part of the bound, at most 1, that each record uses. Private.
    """
    squares = np.empty(len(residuals))
    if residuals.size == len(residuals):
        kernel.shrink(residuals.reshape(-1), lengths, bound, squares)
        return residuals, squares
    kernel.shrink_whole(residuals, lengths, bound, squares)
    return residuals, squares


def shortened(lengths: np.ndarray, longest: float) -> np.ndarray:
    """Factors, at most 1, that bring lengths down to the longest allowed one (private).

    Zero for a length that is not a number: a record of unknown length has no say.
    """
    factors = np.ones(len(lengths))
    np.divide(longest, lengths, out=factors, where=~(lengths <= longest))
    np.copyto(factors, 0.0, where=np.isnan(factors))
    return factors

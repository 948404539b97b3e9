"""Apply published coefficients to records: clip to the published bounds, multiply, add, bend."""

from collections.abc import Sequence

import numpy as np

from sparsedp.data.bend import Bend, bent
from sparsedp.data.raw import RawTable
from sparsedp.data.storage import Array, Storage, is_sparse
from sparsedp.data.sums.products import times

ENTRIES_PER_BLOCK = 1 << 22
"""Records are taken in blocks of about this many entries, so memory does not grow with them."""


def linear_predictor(
    X: RawTable,
    coef: Array,
    intercept: Array,
    lower: Array,
    upper: Array,
    missing: Array | None = None,
    bends: Sequence[Bend] = (),
) -> Array:
    """Margins of shape (n, n_outputs); only features with a coefficient or a bend are read.

    A record's margins depend on nothing but the record, to the last bit: how a matrix product
    rounds one row may depend on how many there are, and private scores count margins.

    Parameters
    ----------
    X : ndarray or sparse of shape (n, d)
    coef : ndarray of shape (n_outputs, d)
    intercept : ndarray of shape (n_outputs,)
    lower, upper : ndarray of shape (d,)
        Features are clipped to these, as the records that the model was fitted to.
    missing : ndarray of shape (d,), optional
        Stands for NaN in an array; in sparse records NaN is zero.
    bends : sequence of Bend
        Of features whose effect is not a line.
    """
    support = np.flatnonzero(coef.any(axis=0) | bent(bends, coef.shape[1]))
    bending = [(int(np.searchsorted(support, bend.feature)), bend) for bend in bends]
    coef, lower, upper = coef[:, support].T, lower[support], upper[support]
    if missing is None or is_sparse(X):
        missing = np.zeros(X.shape[1])
    n, missing = X.shape[0], missing[support]
    margins = np.empty((n, coef.shape[1]))
    columns = X[:, support] if not is_sparse(X) else X.tocsr()[:, support]
    step = max(1, ENTRIES_PER_BLOCK // max(1, len(support)))
    for start in range(0, n, step):
        block: Storage = columns[start : start + step]
        values = block if isinstance(block, np.ndarray) else block.toarray()
        values = np.where(np.isnan(values), missing, values)
        values = np.ascontiguousarray(np.clip(values, lower, upper))
        found = times(values, coef, intercept)
        for column, bend in bending:
            found += bend.at(values[:, column])
        margins[start : start + step] = found
    return margins

"""Apply published coefficients to records: clip to published bounds, multiply, add, bend, join."""

from collections.abc import Sequence

import numpy as np

from sparsedp.data.bend import Bend
from sparsedp.data.interaction import Interaction, interacting, unit_values
from sparsedp.data.raw import RawTable
from sparsedp.data.storage import Array, Storage, is_sparse
from sparsedp.data.sums.products import times
from sparsedp.data.used import used

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
    interactions: Sequence[Interaction] = (),
) -> Array:
    """Margins of shape (n, n_outputs); only features that add something are read.

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
    interactions : sequence of Interaction
        Of pairs of features, in units of ``lower`` and ``upper``.
    """
    support = np.flatnonzero(used(coef, bends, interactions))
    bending = [(int(np.searchsorted(support, bend.feature)), bend) for bend in bends]
    joined = np.flatnonzero(interacting(interactions, coef.shape[1])[support])
    pairs = [(np.searchsorted(support[joined], each.features), each) for each in interactions]
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
        units = unit_values(values[:, joined], lower[joined], upper[joined])
        for (first, second), each in pairs:
            found += each.at(units[:, first], units[:, second])
        margins[start : start + step] = found
    return margins

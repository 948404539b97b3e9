"""Categories put together again from their indicators, for methods that take categories."""

import numpy as np


def blocks(X):
    """Runs of neighboring columns of zeros and ones of which every record has exactly one.

    Read off the records here, as all bounds are; who has the table knows its categories.
    """
    indicator = [bool(np.isin(column, (0, 1)).all()) for column in X.T]
    found, start = [], 0
    while start < X.shape[1]:
        total, stop = np.zeros(len(X)), start
        while stop < X.shape[1] and indicator[stop] and total.max() <= 1 and total.min() < 1:
            total += X[:, stop]
            stop += 1
        if stop - start > 1 and (total == 1).all():
            found.append(range(start, stop))
            start = stop
        else:
            start += 1
    return found


def joined(X, found):
    """The other columns, then one column of codes for each block."""
    inside = {column for block in found for column in block}
    others = [column for column in range(X.shape[1]) if column not in inside]
    codes = [X[:, list(block)].argmax(axis=1).astype(float) for block in found]
    return np.column_stack([X[:, others], *codes])

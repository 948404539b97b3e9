"""The border to scikit-learn and to libraries of tables, where types end.

X and y are arrays, sparse arrays, lists of rows, data frames of any library, Dask collections or
`RecordBlocks`, and scikit-learn hands over its own objects without types. What is in them is for
the gate to judge, cell by cell.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

Features = Any
"""X: one row per record."""

Targets = Any
"""y: one label or number per record."""

Groups = Any
"""The id of a person per row."""

Weights = Sequence[float] | np.ndarray
"""One number per record."""

Grid = Any
"""Parameters to try, as for ``GridSearchCV``: a mapping or a list of mappings."""

Tags = Any
"""What scikit-learn asks an estimator about itself."""

Estimator = Any
"""An estimator as scikit-learn sees it: parameters and, once fitted, attributes that end in _."""

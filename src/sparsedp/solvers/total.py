"""How much all records count together: public, or asked for."""

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.mechanisms import Curator
from sparsedp.privacy import Sensitivity

ONE_RECORD = Sensitivity(add_remove=1.0, replace_one=1.0)
"""A record, or a person with all rows, counts between 0 and 1."""


def total_weight(data: Dataset, curator: Curator, name: str) -> float:
    """The total weight, at least 1: released in the request of this name unless it is public."""
    known = curator.public.total_weight
    if known is None:
        exact = np.array([data.total_weight])  # private
        known = float(curator.perturb(exact, ONE_RECORD, name=name)[0])  # released
    return max(known, 1.0)

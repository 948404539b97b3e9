"""A pair of features that a model adds something for, beside the effect of each."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from sparsedp.data.interaction import Interaction


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two features that interact.

    Parameters
    ----------
    features : (int, int)
        Columns in the table that the model was fitted to, in their order; both are used.
    weights : tuple of float
        For each output, what is added where both are at their upper limits or both at their lower
        ones. As much is taken away where they are at different ends, and nothing is added where one
        is in the middle.
    """

    features: tuple[int, int]
    weights: tuple[float, ...]

    @property
    def weight(self) -> float:
        """The largest, without its sign."""
        return max(map(abs, self.weights))

    def interaction(self, place: Mapping[int, int]) -> Interaction:
        """The term, for a table that has the features at these positions."""
        first, second = (place[index] for index in self.features)
        return Interaction(first, second, np.array(self.weights))

    def to_dict(self) -> dict[str, object]:
        """For the model file."""
        return asdict(self)


def pairs_of(interactions: Sequence[Interaction]) -> tuple[Pair, ...]:
    """What an estimator holds, as its file says it."""
    return tuple(
        Pair(
            features=(int(each.first), int(each.second)),
            weights=tuple(each.weights.tolist()),
        )
        for each in interactions
    )

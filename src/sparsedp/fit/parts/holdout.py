"""How many of the persons are kept for a private evaluation."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Holdout:
    """A share of the persons, chosen by secret coins, who score a model instead of training it.

    Parameters
    ----------
    share : float
        Probability that a person is held out; public, strictly between 0 and 1.

    Privacy
    -------
    Everybody is in one part, with all rows, so model and scores together cost what the model alone
    would (privacy/events/parallel.md).
    """

    share: float

    def __post_init__(self) -> None:
        number = isinstance(self.share, int | float | np.number)
        if isinstance(self.share, bool) or not number or not 0 < self.share < 1:
            raise ValueError(
                "holdout must be a share strictly between 0 and 1, such as holdout=0.2, got "
                f"{self.share!r}"
            )
        object.__setattr__(self, "share", float(self.share))

    @classmethod
    def of(cls, holdout: "float | Holdout | None") -> "Holdout | None":
        """As users write it."""
        if holdout is None or isinstance(holdout, Holdout):
            return holdout
        return cls(share=holdout)

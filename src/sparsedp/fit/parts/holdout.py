"""How many of the persons are kept for a private evaluation, by which coins, and who pays."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sparsedp.fit.parts.key import CoinKey
from sparsedp.privacy import Ledger


@dataclass(frozen=True, kw_only=True)
class Holdout:
    """A share of the persons, chosen by secret coins, who score a model instead of training it.

    Parameters
    ----------
    share : float
        Probability that a person is held out; public, strictly between 0 and 1.
    key : str or Path, optional
        A file with a secret, made if it is not there. Coins then follow from it and from the
        persons' ids (``groups`` or a schema with persons): somebody who is held out once is held
        out of all fits with this key. Without it every fit tosses new coins.
    ledger : Ledger, optional
        With a key: the budget of those who are held out. Scores are charged to it, and the model
        to the ledger of the estimator.

    Privacy
    -------
    Everybody is in one part, with all rows, so model and scores together cost what the model alone
    would. With a key that is so for any number of fits: two ledgers of (epsilon, delta), one for
    each side, are (epsilon, delta) together (privacy/events/parallel.md).

    Examples
    --------
    >>> from sparsedp import Holdout
    >>> Holdout(share=0.2).share
    0.2
    """

    share: float
    key: str | os.PathLike[str] | None = None
    ledger: Ledger | None = None

    def __post_init__(self) -> None:
        number = isinstance(self.share, int | float | np.number)
        if isinstance(self.share, bool) or not number or not 0 < self.share < 1:
            raise ValueError(
                "holdout must be a share strictly between 0 and 1, such as holdout=0.2, got "
                f"{self.share!r}"
            )
        object.__setattr__(self, "share", float(self.share))
        if self.ledger is not None and self.key is None:
            raise ValueError(
                "a ledger for those who are held out takes coins that persist: give Holdout a key; "
                "without one, model and scores are charged together to the estimator's ledger"
            )
        if self.ledger is not None and not isinstance(self.ledger, Ledger):
            raise ValueError(f"ledger must be a sparsedp.Ledger, got {self.ledger!r}")

    @classmethod
    def of(cls, holdout: "float | Holdout | None") -> "Holdout | None":
        """As users write it."""
        if holdout is None or isinstance(holdout, Holdout):
            return holdout
        return cls(share=holdout)

    def coins(self) -> CoinKey | None:
        """The key of coins that persist; made at its first use."""
        return None if self.key is None else CoinKey.opened(Path(self.key), self.share)

"""The best of a secret number of trials over several settings: a private search.

*Proof.* estimators/tuning.md: Papernot and Steinke (2021) for trials that are rho-zCDP each and a
number of trials from the truncated negative binomial family (account/repeat.py). The bound is on
the whole search and is no sum over releases, so a record that lists a search lists nothing else.
"""

from dataclasses import asdict, dataclass
from typing import ClassVar

from sparsedp.privacy.account.cost import Cost
from sparsedp.privacy.account.repeat import SHAPES, repeated_divergence, repeated_epsilon
from sparsedp.privacy.kind import Claim, Words
from sparsedp.privacy.plain import Plain


@dataclass(frozen=True)
class RepeatAndSelect:
    """A private search over settings.

    Parameters
    ----------
    epsilon, delta : float
        What the search was asked to cost.
    expected_trials : float
        Mean of the secret number of trials.
    rho_per_trial : float
        Concentrated cost of the dearest trial.
    noise_factor : float
        Noise of a trial over that of one fit with the whole budget.
    distribution : {"logarithmic", "geometric"}
        Of the number of trials.
    n_candidates : int
        Settings to draw from.
    """

    epsilon: float
    delta: float
    expected_trials: float
    rho_per_trial: float
    noise_factor: float
    distribution: str
    n_candidates: int

    stored_as: ClassVar[str] = "RepeatAndSelect"
    costs: ClassVar[tuple[str, ...]] = ("epsilon",)

    def __post_init__(self) -> None:
        numbers = (self.epsilon, self.delta, self.expected_trials, self.rho_per_trial)
        numbers += (self.noise_factor, self.n_candidates)
        if self.distribution not in SHAPES or any(isinstance(n, str) for n in numbers):
            raise ValueError("RepeatAndSelect does not have these fields")

    def proven_epsilon(self, delta: float) -> float:
        """Epsilon of the whole search."""
        return repeated_epsilon(self.rho_per_trial, delta, self.expected_trials, self.distribution)

    def divergence(self, alpha: float) -> float:
        """Renyi divergence of the whole search."""
        return repeated_divergence(
            self.rho_per_trial, alpha, self.expected_trials, self.distribution
        )

    def cost(self) -> Cost:
        """It stands alone."""
        return Cost(alone=self)

    def contradiction(self, claim: Claim) -> str | None:
        """It was counted at one delta, for trials that are proven."""
        if claim.calibration != "sound":
            return "a private search is the only release of its record"
        if claim.delta is not None and self.delta != claim.delta:
            return "the search was counted at another delta than the record states"
        if not 1 < self.expected_trials <= 1e6 or not 1e-15 < self.rho_per_trial <= 1e4:
            return "a search of this size cannot have been made"
        return None

    def words(self, neighbors: str) -> Words:
        """For the report."""
        return Words(
            kind=f"the best of a secret number of trials over {self.n_candidates} settings",
            count=None,
            cost=f"epsilon = {self.epsilon:.4g} at delta = {self.delta:g} for all",
            meaning=f"each trial has {self.noise_factor:.3g} times the noise of one fit; "
            f"{self.expected_trials:g} trials are expected ({self.distribution})",
        )

    def to_dict(self) -> Plain:
        """Plain data, ready for JSON."""
        return {"event": self.stored_as, **asdict(self)}

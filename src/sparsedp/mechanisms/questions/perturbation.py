"""What are these sums, up to Gaussian noise? And how much noise would there be?"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sparsedp.mechanisms.questions.question import Answer, Query, kept, unanswered
from sparsedp.mechanisms.samplers.gaussian import gaussian_release
from sparsedp.privacy import Event, GaussianReleases, Gaussians, Selections, Sensitivity

if TYPE_CHECKING:
    from sparsedp.mechanisms.noisy import Noisy

PERTURBING = (Gaussians, GaussianReleases)
"""Kinds of releases that can answer."""


@dataclass(frozen=True, eq=False)
class Perturbation:
    """An array with Gaussian noise; see `Curator.perturb`."""

    values: np.ndarray
    sensitivity: float | Sensitivity
    share: float = 1.0

    free: ClassVar[bool] = False

    @property
    def paid_by(self) -> tuple[type, ...]:
        """Whatever has such noise."""
        return PERTURBING

    @property
    def steps(self) -> int:
        """None: how many there are is decided on the way."""
        return 0

    def amount(self, event: Event) -> float:
        """A share; published noise is the same for every release, and each counts as one."""
        return 1 if isinstance(event, GaussianReleases) else self.share

    def noisy(self, event: Event | None, noise: "Noisy") -> np.ndarray:
        """On a fixed grid, drawn exactly."""
        norm, mu = _norm_and_mu(self, event, noise)
        return gaussian_release(self.values, norm, mu, noise.stream)

    def exact(self) -> np.ndarray:
        """The values as they are."""
        return np.array(self.values, dtype=float)

    def observed(self) -> "Perturbation":
        """As it is."""
        return self

    def queries(self, answer: np.ndarray, name: str | None) -> list[Query]:
        """The values and their release."""
        declared, share = Sensitivity.of_sum(self.sensitivity), self.share
        return [kept("perturb", self.values, declared, (share,), name, answer, share=share)]

    def scripted(self, following: Callable[[], Answer]) -> np.ndarray:
        """The next answer."""
        return following()


@dataclass(frozen=True, eq=False)
class NoiseLevel:
    """Standard deviation of noise, public; see `Curator.noise_level`."""

    sensitivity: float | Sensitivity
    share: float = 1.0
    named: bool = False
    """Only a name can mean selections."""

    free: ClassVar[bool] = True

    @property
    def steps(self) -> int:
        """None: how many there are is decided on the way."""
        return 0

    @property
    def paid_by(self) -> tuple[type, ...]:
        """Whatever has such noise."""
        return (Selections, *PERTURBING) if self.named else PERTURBING

    def amount(self, event: Event) -> float:
        """Nothing: it follows from schedule and budget alone."""
        return 0.0

    def noisy(self, event: Event | None, noise: "Noisy") -> float:
        """Of Gaussian noise, up to rounding; of selections the scale of their Gumbel noise."""
        if isinstance(event, Selections):
            return noise.score_range(self.sensitivity) / event.epsilon0
        norm, mu = _norm_and_mu(self, event, noise)
        return norm / mu

    def exact(self) -> float:
        """There is none."""
        return 0.0

    def observed(self) -> "NoiseLevel":
        """As it is."""
        return self

    def queries(self, answer: float, name: str | None) -> list[Query]:
        """Public, but replay must repeat it."""
        declared = Sensitivity.of_sum(self.sensitivity)
        return [kept("noise_level", np.zeros(1), declared, (self.share,), name, answer)]

    def scripted(self, following: Callable[[], Answer]) -> float:
        """The next answer."""
        return following()


def _norm_and_mu(
    asked: Perturbation | NoiseLevel, event: Event | None, noise: "Noisy"
) -> tuple[float, float]:
    """Sensitivity that the noise is made for, and sensitivity over noise."""
    if isinstance(event, GaussianReleases):
        assert not isinstance(asked.sensitivity, Sensitivity), "a paper states one number"
        return asked.sensitivity, 1 / event.multiplier
    if isinstance(event, Gaussians):
        return noise.norm(asked.sensitivity), event.mu_of(asked.share)
    raise unanswered(asked, event)

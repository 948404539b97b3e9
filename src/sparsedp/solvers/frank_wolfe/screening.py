"""Frank-Wolfe that sets weights to zero by a noisy screening rule (proof: screening.md)."""

import math
from dataclasses import dataclass

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.data.sums.losses import gradient_sum
from sparsedp.losses import Loss, StronglyConvex
from sparsedp.mechanisms import Curator, KeyStream
from sparsedp.privacy import (
    GaussianPerturb,
    LaplaceSelect,
    Perturb,
    PublicFacts,
    PublishedSchedule,
    Schedule,
    Select,
    Sensitivity,
)
from sparsedp.sets import L1Ball
from sparsedp.solvers.frank_wolfe.screening_rule import ScreeningRule, column_norms
from sparsedp.solvers.solver import (
    Solution,
    check_calibration,
    check_clip,
    check_needs,
    check_positive_integer,
    check_share,
    check_size,
    guaranteed,
    refuse_initial_model,
)
from sparsedp.solvers.total import total_weight

COUNT_SHARE = 0.02
"""Part of the budget for the number of records, where that is private."""

LARGEST_RADIUS = 300.0
"""Beyond, a classifier's loss is so flat at the ends of the ball that the rule is not a number."""

START = b"a public point of the L1 ball"
"""Seed of the published starting point: any fixed choice, it depends on no record."""


@dataclass(frozen=True, kw_only=True)
class ScreenedFrankWolfe:
    """Frank-Wolfe over an L1 ball whose weights are set to zero where a noisy rule says so.

    The algorithm of Khanna et al., "The Challenge of Differentially Private Screening Rules", with
    the rule's sensitivity put right. The paper finds that noise drowns the rule, and with noise
    for what a record can really change even more so: every feature is screened with a probability
    near one half. It is here to reproduce that, and as a safe rule without noise; to screen
    features privately take :class:`Screened` or :class:`NoisyMinScreening`.

    Parameters
    ----------
    radius : float
        Of the L1 ball, in unit coordinates; the intercept counts too, but is never screened.
    n_steps : int
        Frank-Wolfe steps.
    screen_every : int or "end"
        Screen after every so many steps, or only after the last one. What was screened may be
        chosen again by a later step.
    screen_share : float
        Part of the budget for screening; the paper takes one half.
    clip : float
        Residuals beyond this are clipped in the steps (not in the rule).
    calibration : {"sound", "proven", "published"}
        "published" runs the paper's rule, noise, steps and dense starting point, to reproduce it.
        "proven" changes nothing but the noise, which is for what one record can move vertices and
        rule; under add/remove means are over a released number of records. "sound" changes more
        than the noise: the rule is the safe one (its terms of one feature times the radius),
        residuals are clipped at ``clip``, all choices count alike, and weights start at zero.

    Notes
    -----
    *Privacy.* Chosen vertices, and the rule's value at every feature with Gaussian noise. Where
    the number of records is private (add/remove) a noisy one takes its place in the rule.
    """

    radius: float = 10.0
    n_steps: int = 100
    screen_every: int | str = "end"
    screen_share: float = 0.5
    clip: float = 0.5
    calibration: str = "sound"

    needs = (StronglyConvex,)

    def __post_init__(self) -> None:
        check_size("radius", self.radius, most=LARGEST_RADIUS)
        check_positive_integer("n_steps", self.n_steps)
        check_calibration(self.calibration)
        if self.screen_every != "end":
            if isinstance(self.screen_every, str):
                raise ValueError(
                    f"screen_every must be a number or 'end', got {self.screen_every!r}"
                )
            check_positive_integer("screen_every", self.screen_every)
            if self.screen_every > self.n_steps:
                raise ValueError(
                    f"screen_every={self.screen_every} is more than the {self.n_steps} steps: "
                    "use 'end' to screen once"
                )
        check_share("screen_share", self.screen_share)
        check_clip(self.clip)

    @property
    def n_screens(self) -> int:
        """How often the rule is released."""
        return 1 if self.screen_every == "end" else self.n_steps // int(self.screen_every)

    @property
    def caveats(self) -> tuple[str, ...]:
        """Why the published guarantee is not proven."""
        if guaranteed(self.calibration):
            return ()
        return (
            "The screening rule of Khanna et al. has noise for a product of sensitivities, which "
            "does not bound the sensitivity of a product: one record moves the rule by about "
            "sqrt(n) / 2 times as much. The formula also ignores the targets.",
            "The steps have noise for a Lipschitz constant of one, which the squared loss does not "
            "have, and for half the change that replacing a record can cause.",
        )

    def schedule(self, public: PublicFacts) -> Schedule | PublishedSchedule:
        """One selection per step, and the rule at every screening."""
        refuse_initial_model(public, "ScreenedFrankWolfe")
        check_needs(self, public)
        if self.calibration != "sound" and public.n_outputs > 1:
            raise ValueError(
                f"the {self.calibration} calibration of ScreenedFrankWolfe is for linear "
                "regression and two classes; use calibration='sound' for more"
            )
        if self.calibration == "published":
            if public.n_records is None:
                raise ValueError(
                    "the published calibration of ScreenedFrankWolfe needs the number of records: "
                    "use neighbors='replace_one', or calibration='proven'"
                )
            screen = GaussianPerturb(
                self.n_screens, self._multiplier, None, "screen", self.screen_share
            )
            steps = LaplaceSelect(
                self.n_steps, 1 - self.screen_share, name="vertex", delta_fraction=0.5
            )
            return PublishedSchedule((steps, screen))
        steps = Select(self.n_steps, 1 - self.screen_share, name="vertex")
        screen = Perturb(self.screen_share, name="screen")
        if not public.asks_weight:
            return Schedule((steps, screen))
        return Schedule((Perturb(COUNT_SHARE, name="n_records"), steps, screen))

    def solve(self, data: Dataset, loss: Loss, curator: Curator) -> Solution:
        """Walk to one chosen vertex after another, and screen on the way."""
        public = curator.public
        ball = L1Ball(self.radius)
        published, printed = self.calibration == "published", self.calibration != "sound"
        textbook = printed or curator.noiseless
        # The printed rule mixes units; the paper's are those of the target, here mapped to [-1, 1].
        unit = 1 / _half_range(data)
        rule = ScreeningRule.of(loss, self.radius, unit if printed else self.radius)
        n = total_weight(data, curator, "n_records")  # released or public
        norms = column_norms(data)  # private
        w = np.zeros(public.weights_shape)
        if printed:
            w = _point_in_ball(public.n_columns, self.radius)
        for t in range(self.n_steps):
            bound = loss.residual_bound(w)
            if not textbook:
                bound = min(bound, self.clip)
            # What the paper does not clip is clipped to what it cannot exceed.
            exact = published or (printed and curator.noiseless)
            gradient = gradient_sum(data, loss, w, math.inf if exact else bound)  # private
            bound = unit if published else bound
            vertex = curator.select(ball.scores(gradient), bound, signed=True)  # released
            w = ball.step_toward(w, vertex, 2 / (t + 3) if textbook else 1 / (t + 2))
            if self._screens_after(t):
                values = rule.values(data, loss, w, norms, n)  # private
                noisy = curator.perturb(
                    values, self._in_norm(rule, n, public), share=1 / self.n_screens, name="screen"
                )  # released
                w[: public.n_features][noisy < 0] = 0
        return Solution(weights=w)

    def _in_norm(self, rule: ScreeningRule, n: float, public: PublicFacts) -> float | Sensitivity:
        """L2 sensitivity of the rule at all features."""
        root = math.sqrt(public.n_features)
        if self.calibration == "published":
            return root * rule.published_sensitivity(n)
        one = rule.sensitivity(n)
        return Sensitivity(add_remove=root * one.add_remove, replace_one=root * one.replace_one)

    def _screens_after(self, t: int) -> bool:
        if self.screen_every == "end":
            return t == self.n_steps - 1
        return (t + 1) % int(self.screen_every) == 0

    def _multiplier(self, epsilon: float, delta: float) -> float:
        """The paper's noise over its sensitivity; screening has half of delta."""
        count = self.n_screens
        each_delta = delta / 2 / (count + 1)
        each_epsilon = epsilon / (2 * math.sqrt(2 * count * math.log(1 / each_delta)))
        return math.sqrt(2 * math.log(1.25 / each_delta)) / each_epsilon


def adp_screen(*, radius: float = 3.0, n_steps: int = 50) -> ScreenedFrankWolfe:
    """ADP-Screen of Khanna et al. (2025): the rule at every feature, after every step.

    Parameters
    ----------
    radius : float
        Of the L1 ball, in unit coordinates.
    n_steps : int
        Frank-Wolfe steps, and as many screenings.

    Notes
    -----
    *Privacy.* As :class:`ScreenedFrankWolfe`, which it is with these settings.
    """
    return ScreenedFrankWolfe(radius=radius, n_steps=n_steps, screen_every=1)


def _half_range(data: Dataset) -> float:
    if data.target_bounds is None:
        return 1.0
    return (data.target_bounds[1] - data.target_bounds[0]) / 2


def _point_in_ball(n_columns: int, radius: float) -> np.ndarray:
    """A point drawn uniformly from the L1 ball, once and for all: it depends on no record."""
    words = KeyStream.from_seed(START).words(n_columns + 1)
    spacings = -np.log1p(-(words >> np.uint64(11)) * 2.0**-53)
    signs = np.where(words[:-1] & np.uint64(1), -1.0, 1.0)
    return radius * signs * spacings[:-1] / spacings.sum()

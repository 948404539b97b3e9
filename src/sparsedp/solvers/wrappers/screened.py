"""Keep the features that matter before any solver runs (proof: screened.md)."""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.data.sums import weighed
from sparsedp.data.sums.products import column_sums
from sparsedp.losses import Loss
from sparsedp.losses.clip import clipped
from sparsedp.mechanisms import Curator
from sparsedp.privacy import (
    Gaussians,
    Perturb,
    PublicFacts,
    Schedule,
    Select,
    Selections,
    Sensitivity,
)
from sparsedp.privacy.account.calibration import calibrate
from sparsedp.solvers.clipping import shortened
from sparsedp.solvers.frank_wolfe.frank_wolfe import FrankWolfe
from sparsedp.solvers.solver import (
    LEAST_SHARE,
    Solution,
    Solver,
    check_positive_integer,
    check_share,
    refuse_initial_model,
)
from sparsedp.solvers.wrappers.certificate import (
    REQUEST,
    Certificate,
    Safety,
    Screen,
    gradient_safety,
    selection_safety,
)
from sparsedp.solvers.wrappers.kept import facts_of_kept, fitted_on_kept, inner_schedule

NULL_SHARE = 0.02
NORM_SHARE = 0.03
"""Parts of the screening's budget for the null model and for the typical row norm."""

ROW_NORM_BINS = 48
"""Row norms are counted in bins whose ends grow by 2 ** (1/8)."""

SHORTER_ROWS = 0.3
"""Part of the rows that are left alone when rows are shrunk to a common length."""

BETA = 0.05
"""Failure probability of the safety statement in the record."""


@dataclass(frozen=True)
class _Null:
    """The released constant model."""

    weights: np.ndarray
    residual_bound: float
    """Where its residuals are clipped."""
    n_records: float


@dataclass(frozen=True)
class Screened:
    """Select ``n_keep`` features by one private look at all of them, then fit on these.

    The look is the gradient at the model that is constant: how strongly each feature goes with what
    the constant does not explain. A bad idea when features matter only jointly.

    Parameters
    ----------
    solver : Solver
        Fitted to the kept features.
    n_keep : int or None
        Features to keep; None keeps as many as the model may use.
    share : float
        Part of the (squared) budget that screening uses.
    method : {"auto", "selection", "gradient"}
        "selection" draws the features one by one (noise grows with the root of ``n_keep``),
        "gradient" releases the whole gradient of length-clipped rows (noise grows with the typical
        row length, ``n_keep`` does not matter). "auto" compares the two by public numbers.
    certificate : Certificate or None
        Release, after the fit, an upper bound on what dropping features has cost; the record's
        notes then have it.

    Notes
    -----
    *Privacy.* Selections of bounded range or Gaussian releases, calibrated together with what the
    solver asks for.

    *Safety.* With probability at least 1 - beta no dropped feature has a score above that of the
    best possible cut by more than tau: :meth:`safety` says so before the fit, the notes of the
    record after it.
    """

    solver: Solver = field(default_factory=FrankWolfe)
    n_keep: int | None = None
    share: float = 0.5
    method: str = "auto"
    certificate: Certificate | None = None

    def __post_init__(self) -> None:
        if self.n_keep is not None:
            check_positive_integer("n_keep", self.n_keep)
        check_share("share", self.share)
        if self.method not in ("auto", "selection", "gradient"):
            raise ValueError(
                f"method must be 'auto', 'selection' or 'gradient', got {self.method!r}"
            )
        certified = 0.0 if self.certificate is None else self.certificate.share
        if not self.share + certified <= 1 - LEAST_SHARE:
            raise ValueError("screening and certificate leave nothing to the solver: lower a share")

    @property
    def needs(self) -> tuple[type, ...]:
        """What the solver inside needs."""
        return self.solver.needs

    @property
    def caveats(self) -> tuple[str, ...]:
        """Those of the inner solver."""
        return self.solver.caveats

    def schedule(self, public: PublicFacts) -> Schedule:
        """Screening's requests, then the inner solver's at what remains."""
        refuse_initial_model(public, "Screened")
        kept = self._kept(public)
        inner = inner_schedule(self.solver, kept, "Screened")
        certified = 0.0 if self.certificate is None else self.certificate.share
        unit = inner.total_share / (1 - self.share - certified)
        screening = self.share * unit
        look = 1 - NULL_SHARE - (NORM_SHARE if self._uses_gradient(public) else 0)
        requests = (
            Perturb((1 - look) * screening, name="screen_scale"),
            Perturb(look * screening, name="screen")
            if self._uses_gradient(public)
            else Select(kept.n_features, look * screening, name="screen"),
            *inner.requests,
        )
        if self.certificate is None:
            return Schedule(requests)
        return Schedule((*requests, Perturb(certified * unit, name=REQUEST)))

    def solve(self, data: Dataset, loss: Loss, curator: Curator) -> Solution:
        """Screen, then fit on what was kept."""
        screen = self.screen(data, loss, curator)
        solution = fitted_on_kept(self.solver, data, loss, curator, screen.kept)
        notes = (screen.sentence(), *solution.notes)
        if self.certificate is not None:
            view = data if solution.bounds is None else data.tightened(solution.bounds)
            bound = self.certificate.release(view, loss, solution.weights, screen.kept, curator)
            notes = (*notes, bound.sentence(screen.n_records))
        return replace(solution, notes=notes)

    def safety(
        self, public: PublicFacts, epsilon: float, delta: float, *, beta: float = BETA
    ) -> Safety:
        """What screening will promise at a budget, known before the fit.

        Parameters
        ----------
        public : PublicFacts
        epsilon, delta : float
            The budget of the whole fit.
        beta : float
            Probability that the promise may fail.

        Returns
        -------
        Safety
            With ``tau`` in records: how many of them, each adding all that it may, outweigh the
            noise. For the gradient method an upper limit, at the longest possible rows.
        """
        if not 0 < beta < 1:
            raise ValueError(f"beta must be between 0 and 1, got {beta!r}")
        event = calibrate(self.schedule(public), epsilon, delta)[1]
        n_keep = self._kept(public).n_features
        if isinstance(event, Selections):
            noise = Sensitivity.of_scores(1.0).under(public.neighbors) / event.epsilon0
            return selection_safety(noise, public.n_features, n_keep, beta)
        assert isinstance(event, Gaussians)
        sensitivity = _row_bound(math.sqrt(public.n_columns), public)
        noise = Sensitivity.of_sum(sensitivity).under(public.neighbors) / event.mu
        return gradient_safety(noise, public.n_features, n_keep, public.n_outputs, beta)

    def screen(self, data: Dataset, loss: Loss, curator: Curator) -> Screen:
        """Release which features are kept."""
        public = curator.public
        d, n_keep = public.n_features, self._kept(public).n_features
        null = self._null_model(data, loss, curator)  # released
        bound = null.residual_bound
        residual = loss.residual(data.matvec(null.weights), data.target)  # private
        residual = clipped(residual, bound)
        if self._uses_gradient(public):
            norms = data.row_norms()  # private
            norm = self._typical_norm(norms, data.weights, curator)  # released
            gradient = data.rmatvec((residual.T * shortened(norms, norm)).T)  # private
            sensitivity = bound * _row_bound(norm, public)
            scores = np.abs(curator.perturb(gradient, sensitivity, name="screen"))  # released
            kept = np.argsort(-_by_feature(scores)[:d], kind="stable")[:n_keep]
            noise = curator.noise_level(sensitivity, name="screen")
            safety = gradient_safety(noise, d, n_keep, public.n_outputs, BETA)
        else:
            gradient = data.rmatvec(residual)  # private
            scores = _by_feature(np.abs(gradient))[:d]  # private
            kept = curator.select_many(scores, bound, n_keep, name="screen")  # released
            noise = curator.noise_level(bound, name="screen")
            safety = selection_safety(noise, d, n_keep, BETA)
        return Screen(np.sort(kept), safety, bound, null.n_records)

    def _kept(self, public: PublicFacts) -> PublicFacts:
        return facts_of_kept(public, self.n_keep)

    def _uses_gradient(self, public: PublicFacts) -> bool:
        if self.method != "auto":
            return self.method == "gradient"
        # Noise at the cut: sqrt(k) ln d for selections, norm * sqrt(2 ln d) for the gradient.
        # Rows of a unit box are rarely longer than a third of its half diagonal.
        d, k = public.n_features, self._kept(public).n_features
        return k * math.log(max(d, 2)) / 2 > d / 9

    def _null_model(self, data: Dataset, loss: Loss, curator: Curator) -> _Null:
        """The constant model, and where to clip its residuals.

        At zero weights a feature's mean would weigh in every score; the constant takes it out.
        """
        public = curator.public
        null = np.zeros(public.weights_shape)
        share = NULL_SHARE / (NULL_SHARE + (NORM_SHARE if self._uses_gradient(public) else 0))
        if loss.n_classes is not None:
            counts = weighed.counts(data.target, loss.n_classes, data.weights)  # private
            # One record is in one class; a replaced record leaves one class for another.
            one_hot = Sensitivity(add_remove=1.0, replace_one=math.sqrt(2))
            counts = curator.perturb(counts, one_hot, share=share, name="screen_scale")
            n = counts.sum()
            logs = np.log(np.maximum(counts, 5.0))
            constant = logs[1] - logs[0] if public.n_outputs == 1 else logs - logs.mean()
            spread = math.inf
        else:
            y = data.target
            powers = weighed.weighed(np.column_stack([y, y**2]), data.weights)
            moments = np.append(data.total_weight, column_sums(powers))  # private
            # A record adds (1, y, y^2) with |y| <= 1. Replacing one moves the last two by at most
            # (y - z)^2 (1 + (y + z)^2) <= 4 in square, at y = -z = 1.
            three = Sensitivity(add_remove=math.sqrt(3), replace_one=2.0)
            n, total, squares = curator.perturb(moments, three, share=share, name="screen_scale")
            mean = float(np.clip(total / max(n, 1.0), -1, 1))
            constant = float(loss.link(mean))
            # Clipped at one standard deviation a residual says little more than its sign, but the
            # noise is many times smaller than for the declared range.
            spread = math.sqrt(max(squares / max(n, 1.0) - mean**2, 1e-4))
        if public.intercept:
            null[-1] = constant
        bound = loss.residual_bound(null)
        n_records = float(n) if public.total_weight is None else public.total_weight
        return _Null(null, bound if curator.noiseless else min(bound, spread), n_records)

    def _typical_norm(
        self, norms: np.ndarray, weights: np.ndarray | None, curator: Curator
    ) -> float:
        """A length that most rows have: longer ones are shrunk to it."""
        longest = math.sqrt(curator.public.n_columns)
        ends = longest * 2.0 ** (-np.arange(ROW_NORM_BINS)[::-1] / 8)
        bins = np.minimum(np.searchsorted(ends, norms), ROW_NORM_BINS - 1)
        histogram = weighed.counts(bins, ROW_NORM_BINS, weights)  # private
        one_hot = Sensitivity(add_remove=1.0, replace_one=math.sqrt(2))
        share = NORM_SHARE / (NULL_SHARE + NORM_SHARE)
        noisy = curator.perturb(histogram, one_hot, share=share, name="screen_scale")  # released
        total = np.cumsum(np.maximum(noisy, 0))
        return float(ends[np.searchsorted(total, SHORTER_ROWS * total[-1])])


def _row_bound(norm: float, public: PublicFacts) -> float:
    """L2 bound on a record's gradient, for rows of this norm and residuals of at most 1."""
    return norm * (1 if public.n_outputs == 1 else math.sqrt(2))


def _by_feature(scores: np.ndarray) -> np.ndarray:
    return scores if scores.ndim == 1 else scores.max(axis=1)

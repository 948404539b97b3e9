"""ADMM for sparse penalties: noise in the smooth half, exact zeros in the other (admm.md)."""

import math
from dataclasses import dataclass

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.losses import Loss, Perturbable
from sparsedp.mechanisms import Curator
from sparsedp.privacy import (
    Perturb,
    PublicFacts,
    PublishedSchedule,
    PureMinimize,
    Schedule,
    WangZhangMinimize,
)
from sparsedp.solvers.clipping import shrink
from sparsedp.solvers.l2_view import from_unit, l2_view, to_unit, usual_row_norm
from sparsedp.solvers.objective.regularized import (
    RegularizedObjective,
    capped,
    check_cap,
    check_residual_clip,
    check_start,
    perturbable,
    perturbed_shape,
    refuse_people,
)
from sparsedp.solvers.solver import (
    Solution,
    check_calibration,
    check_needs,
    check_not_negative,
    check_positive_integer,
    check_size,
    guaranteed,
)
from sparsedp.solvers.total import total_weight

PENALTIES = ("l1", "l1/2")
NOISES = ("gaussian", "pure")
STEPS, PURE_STEPS = 40, 2
"""Alternations by default; pure noise in each grows with their number, see admm.md."""

RECORDS_SHARE = 0.02
"""Of the budget, for the number of records where that is private."""


@dataclass(frozen=True, kw_only=True)
class ADMM:
    """Alternate between a noisy step on the loss and an exact one on a sparse penalty.

    After Wang and Zhang (2020). The penalty's half of the alternation sees released numbers only,
    so that any penalty costs nothing, and its weights, which have exact zeros, are the model. A bad
    idea for many features: the noise has the size of a row in every weight.

    Parameters
    ----------
    penalty : {"l1", "l1/2"}
        Sum of absolute weights, or of their square roots: the latter shrinks large weights less.
    threshold : float
        Weights below this become zero in each step, in unit coordinates; the intercept does not.
    n_steps : int or None
        Alternations. None for 40, or 2 with pure noise of our calibration: the linear term grows
        with their number, and the second takes back what the threshold took from large weights.
    noise : {"gaussian", "pure"}
        "gaussian" steps along a noisy gradient. "pure" minimizes a perturbed objective in each
        step, as in the paper, with delta zero; it needs far more records.
    row_norm : float or None
        Bound on rows, as in :class:`ObjectivePerturbation`.
    clip : float
        Residuals are clipped such that no record's gradient is longer than this times the row
        norm ("gaussian"), or where the squared loss turns linear ("pure").
    step_size : float
        Of gradient steps at first, relative to one over the largest curvature of the loss;
        they become shorter where the released gradients show that they overshoot.
    coupling : float
        How firmly both halves are held together, in units of a mean loss ("gaussian" only).
    gamma : float
        Noise parameter of the paper (not with "sound").
    rows_per_person : int or None
        Where people are protected (``groups``): of each person at most this many rows count, the
        first ones ("pure" only). None for all, which costs hardly more noise.
    calibration : {"sound", "proven", "published"}
        "published" takes the per-step cost of the paper; it goes with ``noise="pure"``, and so
        does "proven", which keeps ``gamma`` and the number of steps, and changes the penalty that
        holds w and z together to what is proven to be enough. "sound" with ``noise="pure"`` takes
        2 steps by default and divides a step's cost otherwise between noise and penalty; with
        ``noise="gaussian"`` it is another algorithm, with noisy gradient steps that adapt.

    Notes
    -----
    *Privacy.* "gaussian": every step is one Gaussian release of a sum of clipped gradients. "pure":
    every step is one perturbed minimum with fresh noise. The rest is computed from releases.
    """

    penalty: str = "l1"
    threshold: float = 0.1
    n_steps: int | None = None
    noise: str = "gaussian"
    row_norm: float | None = None
    clip: float = 0.5
    step_size: float = 0.5
    coupling: float = 0.1
    gamma: float = 1.0
    rows_per_person: int | None = None
    calibration: str = "sound"

    def __post_init__(self) -> None:
        check_calibration(self.calibration)
        check_positive_integer("n_steps", self.alternations)
        if self.penalty not in PENALTIES:
            raise ValueError(f"penalty must be one of {PENALTIES}, got {self.penalty!r}")
        if self.noise not in NOISES:
            raise ValueError(f"noise must be one of {NOISES}, got {self.noise!r}")
        check_residual_clip(self.clip)
        for name in ("step_size", "coupling", "gamma"):
            check_size(name, getattr(self, name))
        check_not_negative("threshold", self.threshold)
        check_size("row_norm", self.row_norm, optional=True)
        if self.calibration != "sound" and self.noise != "pure":
            raise ValueError(f"the {self.calibration} calibration of ADMM goes with noise='pure'")
        check_cap(self.rows_per_person)
        if self.rows_per_person is not None and self.noise != "pure":
            raise ValueError(
                "rows_per_person goes with noise='pure': Gaussian noise covers all rows of a person"
            )

    @property
    def needs(self) -> tuple[type, ...]:
        """Steps by gradients take any loss, minima one that can be perturbed."""
        return (Perturbable,) if self.noise == "pure" else ()

    @property
    def caveats(self) -> tuple[str, ...]:
        """What the published calibration leaves open."""
        if guaranteed(self.calibration):
            return ()
        return (
            "The guarantee of Wang and Zhang (2020) is for the exact minimum in every step, which "
            "no computer finds; the small noise that is added here instead is not in the paper.",
        )

    @property
    def alternations(self) -> int:
        """How many steps: as set, or by the noise."""
        if self.n_steps is not None:
            return self.n_steps
        return PURE_STEPS if self.noise == "pure" and self.calibration == "sound" else STEPS

    def schedule(self, public: PublicFacts) -> Schedule | PublishedSchedule:
        """Gradients and, where it is private, the number of records; or one minimum per step."""
        check_needs(self, public)
        check_start(public)
        if self.calibration != "sound" and public.n_outputs > 1:
            raise ValueError(
                f"the {self.calibration} calibration of ADMM is for two classes; "
                "use calibration='sound' for more"
            )
        if self.calibration == "published":
            refuse_people(public, "ADMM")
            shape = perturbed_shape(public)
            return PublishedSchedule((WangZhangMinimize(self.alternations, self.gamma, shape),))
        if self.noise == "pure":
            shape = perturbed_shape(public)
            request = PureMinimize(
                self.alternations,
                1.0,
                None,
                shape,
                public.neighbors,
                public.n_outputs,
                rows_per_unit=1 if public.unit == "row" else self.rows_per_person,
                gamma=self.gamma if self.calibration == "proven" else None,
            )
            return Schedule((request,))
        if public.total_weight is None:
            return Schedule(
                (
                    Perturb(RECORDS_SHARE, name="records"),
                    Perturb(1 - RECORDS_SHARE, name="gradients"),
                )
            )
        return Schedule((Perturb(name="gradients"),))

    def solve(self, data: Dataset, loss: Loss, curator: Curator) -> Solution:
        """Alternate."""
        seen = l2_view(capped(data, self.rows_per_person))
        start = curator.public.initial_weights
        w = np.zeros(curator.public.weights_shape) if start is None else from_unit(start, data)
        z, u = w.copy(), np.zeros_like(w)
        row_norm = usual_row_norm(seen, self.row_norm)
        norms = seen.row_norms()  # private
        n = total_weight(data, curator, "records") if self.noise == "gaussian" else 1.0  # released
        pace = loss.curvature_bound / self.step_size
        before = g_before = w
        for t in range(self.alternations):
            if self.noise == "gaussian":
                g = self._gradient(seen, loss, w, norms, row_norm, curator) / n  # released
                step = w - before
                curvature = float(np.vdot(g - g_before, step)) / max(
                    float(np.vdot(step, step)), 1e-300
                )
                if t > 0 and curvature > 2 * pace:
                    pace = curvature  # steps that long would swing ever wider
                before, g_before = w, g
                w = (pace * w + self.coupling * (z - u) - g) / (pace + self.coupling)
            else:
                objective = RegularizedObjective(
                    seen,
                    perturbable(loss).bounded(math.inf if curator.noiseless else self.clip),
                    row_norm=seen.norm_bound if curator.noiseless else row_norm,
                    l1=0.0,
                    relative_regularization=1.0,
                    center=z - u,
                )
                w = curator.minimize(objective)  # released
            z = self._shrink(w + u, data.n_features)
            u = u + w - z
        return Solution(weights=to_unit(z, data))

    def _gradient(
        self,
        seen: Dataset,
        loss: Loss,
        w: np.ndarray,
        norms: np.ndarray,
        row_norm: float,
        curator: Curator,
    ) -> np.ndarray:
        r = loss.residual(seen.matvec(w), seen.target)  # private
        longest = self.clip * row_norm
        if not curator.noiseless:
            r, _ = shrink(r, norms, longest)
        total = seen.rmatvec(r)  # private
        noisy = curator.perturb(total, longest, share=1 / self.alternations, name="gradients")
        # Residuals of a record add up to zero over the classes; what does not is noise.
        return noisy if noisy.ndim == 1 else noisy - noisy.mean(axis=1, keepdims=True)

    def _shrink(self, v: np.ndarray, n_features: int) -> np.ndarray:
        """The penalty's half: minimize it plus the squared distance to v, entry by entry."""
        threshold = soft_threshold if self.penalty == "l1" else half_threshold
        shrunk = v.copy()
        shrunk[:n_features] = threshold(v[:n_features], self.threshold)
        return shrunk


def soft_threshold(v: np.ndarray, threshold: float) -> np.ndarray:
    """Minimize ``threshold * abs(z) + (z - v)^2 / 2``."""
    return np.sign(v) * np.maximum(np.abs(v) - threshold, 0.0)


def half_threshold(v: np.ndarray, threshold: float) -> np.ndarray:
    """Minimize ``penalty * sqrt(abs(z)) + (z - v)^2 / 2``, whose solution is zero up to threshold.

    The closed form of Xu et al. (2012); it jumps to two thirds of v where it leaves zero.
    """
    penalty = (threshold / 1.5) ** 1.5
    kept = np.abs(v) > threshold
    size = np.where(kept, np.abs(v), 1.0)
    angle = np.arccos(np.minimum(penalty / 4 * (size / 3) ** -1.5, 1.0))
    z = 2 / 3 * v * (1 + np.cos(2 * math.pi / 3 - 2 / 3 * angle))
    return np.where(kept, z, 0.0)

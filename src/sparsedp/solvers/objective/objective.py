"""Objective perturbation: the minimum of a loss with a random linear term (proof: objective.md)."""

import math
from dataclasses import dataclass

from sparsedp.data.dataset import Dataset
from sparsedp.losses import Loss, Perturbable
from sparsedp.mechanisms import Curator
from sparsedp.privacy import KiferMinimize, Minimize, PublicFacts, PublishedSchedule, Schedule
from sparsedp.privacy.events.perturbed_minimum import KIFER_RATIO
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
    check_size,
    guaranteed,
)

LARGEST_REGULARIZATION = 1e6
"""Over the largest curvature of one record's loss; the smallest is one over it."""

NOISELESS_REGULARIZATION = 0.1
"""Without noise nothing asks for more; relative to the curvature of one record."""


@dataclass(frozen=True, kw_only=True)
class ObjectivePerturbation:
    """Minimize a loss with an elastic-net penalty and a random linear term.

    The method of Chaudhuri et al. (2011) and Kifer et al. (2012), with tight accounting: one
    release and no step size. A good choice when features are few or rows are short, as the noise
    has the size of a row in every weight; for many features choose some first, see
    :class:`TwoStage`. An L1 penalty makes weights exactly zero, but only one of about three times
    the noise also silences the noise: :class:`Sparsifier` around it keeps a given number.

    Parameters
    ----------
    l1 : float
        Weight of the L1 penalty next to the sum of the records' losses; not on the intercept.
    regularization : float or None
        Of the quadratic penalty, over the largest curvature of one record's loss. It is part of
        the guarantee. None takes as little as costs next to nothing at the given epsilon
        (logistic loss: about the squared row norm over epsilon).
    row_norm : float or None
        Records whose row, constant column included, has a larger L2 norm count for less: their
        loss is multiplied by the square of row_norm over their norm. None takes the declared norm
        of the bounds, or else sqrt(n_columns / 2): a row in the unit box may be as long as
        sqrt(n_columns), but few are.
    clip : float
        The squared loss is made linear beyond about this residual, in half target ranges, as
        ``clip^2 log cosh(residual / clip)``.
    rows_per_person : int or None
        Where people are protected (``groups``): of each person at most this many rows count, the
        first ones. Part of the guarantee, and public; more rows cost a little more noise. None
        refuses people.
    calibration : {"sound", "proven", "published"}
        "published" takes noise and regularization from Kifer et al. (2012). "proven" keeps their
        regularization, twice the largest curvature of a record over epsilon, and has noise for
        what a record can change. "sound" takes less regularization, or what is set.

    Notes
    -----
    *Privacy.* The exact minimum for a Gaussian linear term is private since the term can make up
    for a record's gradient; a little Gaussian noise on the computed minimum covers what it differs
    from the exact one. Row norm, clip, penalties and regularization are public. Where people are
    protected, each of a person's rows may count for the whole of the person, hence
    ``rows_per_person``.
    """

    l1: float = 0.0
    regularization: float | None = None
    row_norm: float | None = None
    clip: float = 0.5
    rows_per_person: int | None = None
    calibration: str = "sound"

    needs = (Perturbable,)

    def __post_init__(self) -> None:
        check_calibration(self.calibration)
        check_not_negative("l1", self.l1)
        check_size(
            "regularization",
            self.regularization,
            optional=True,
            least=1 / LARGEST_REGULARIZATION,
            most=LARGEST_REGULARIZATION,
        )
        check_size("row_norm", self.row_norm, optional=True)
        check_residual_clip(self.clip)
        check_cap(self.rows_per_person)
        if self.calibration != "sound" and self.regularization is not None:
            raise ValueError(
                f"the {self.calibration} calibration sets the regularization itself: leave None"
            )

    @property
    def caveats(self) -> tuple[str, ...]:
        """Why the published guarantee is not proven."""
        if guaranteed(self.calibration):
            return ()
        return (
            "The noise of Kifer et al. (2012) is proven for adding or removing a record; "
            "replacing one can change the gradient by twice as much.",
        )

    def schedule(self, public: PublicFacts) -> Schedule | PublishedSchedule:
        """One minimum."""
        return self.schedule_with_share(public, 1.0)

    def schedule_with_share(
        self, public: PublicFacts, share: float
    ) -> Schedule | PublishedSchedule:
        """One minimum that is to cost this share, or, published, this part of epsilon."""
        check_needs(self, public)
        check_start(public)
        shape = perturbed_shape(public)
        if self.calibration != "sound" and public.n_outputs > 1:
            raise ValueError(
                f"the {self.calibration} calibration of ObjectivePerturbation is for two classes "
                "or a number; use calibration='sound' for more classes"
            )
        if self.calibration == "published":
            refuse_people(public, "ObjectivePerturbation")
            return PublishedSchedule((KiferMinimize(shape, fraction=share),))
        request = Minimize(
            self.regularization,
            shape,
            public.neighbors,
            public.n_outputs,
            share=share,
            rows_per_unit=self._rows_per_unit(public),
            ratio_of_epsilon=KIFER_RATIO if self.calibration == "proven" else None,
        )
        return Schedule((request,))

    def _rows_per_unit(self, public: PublicFacts) -> int:
        if public.unit == "row":
            return 1
        if self.rows_per_person is None:
            raise ValueError(
                "objective perturbation protects people of whom a public number of rows counts at "
                "most: set rows_per_person, as in ObjectivePerturbation(rows_per_person=10) or "
                "--set rows_per_person=10. Of a person with more rows the first ones count"
            )
        return int(self.rows_per_person)

    def solve(self, data: Dataset, loss: Loss, curator: Curator) -> Solution:
        """Minimize once."""
        if curator.public.loss not in (None, loss):
            raise ValueError(f"planned for {curator.public.loss}, got {loss}")
        seen = l2_view(capped(data, self.rows_per_person))
        start = curator.public.initial_weights
        objective = RegularizedObjective(
            seen,
            perturbable(loss).bounded(math.inf if curator.noiseless else self.clip),
            row_norm=seen.norm_bound if curator.noiseless else usual_row_norm(seen, self.row_norm),
            l1=self.l1,
            relative_regularization=self.regularization or NOISELESS_REGULARIZATION,
            center=None if start is None else from_unit(start, data),
        )
        weights = curator.minimize(objective)  # released
        if weights.ndim == 2 and self.l1 == 0:
            # Adding the same to all classes changes no prediction: there is only noise in it.
            weights = weights - weights.mean(axis=1, keepdims=True)
        return Solution(weights=to_unit(weights, data))

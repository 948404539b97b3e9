"""What every solver is, and what it gives back."""

import math
from dataclasses import dataclass, replace
from typing import Protocol, TypeGuard

import numpy as np

from sparsedp.data.bend import Bend, PathBends
from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.data.interaction import Interaction
from sparsedp.losses import Loss
from sparsedp.mechanisms import Curator
from sparsedp.privacy import PublicFacts, PublishedSchedule, Schedule
from sparsedp.solvers.uncertainty import Uncertainty

CALIBRATIONS = ("sound", "proven", "published")
"""Of the methods of papers: improved; the paper's steps with noise that is proven; as printed."""

SMALLEST, LARGEST = 1e-12, 1e12
"""Settings that are sizes (radii, clips, steps, penalties) lie between these: products and squares
of any few of them are far from where doubles end, so no fit fails in arithmetic after the charge.
"""

LEAST_SHARE = 1e-6
"""Of a budget, for a part that is asked for: noise for less would drown whatever it is added to."""

LONGEST_PATH = 500
"""Features on a path by weight: the table of its models grows with the square of their number."""


@dataclass(frozen=True)
class SolutionPath:
    """Models with the first 1, 2, ... of the used features, in unit coordinates.

    Parameters
    ----------
    order : ndarray of shape (k,)
        Used features, the first to enter first.
    weights : ndarray of shape (k, k, n_outputs)
        ``weights[i, : i + 1]`` are the weights of the features ``order[: i + 1]``, the rest zero.
    intercepts : ndarray of shape (k, n_outputs)
        Zero where there is no intercept.
    bends : tuple of tuple of Bend, or BendTable
        Of each model; an empty tuple if none has any.
    interactions : tuple of tuple of Interaction
        Of each model, of features that have entered; an empty tuple if none has any.
    """

    order: np.ndarray
    weights: np.ndarray
    intercepts: np.ndarray
    bends: PathBends = ()
    interactions: tuple[tuple[Interaction, ...], ...] = ()

    @classmethod
    def by_weight(
        cls,
        weights: np.ndarray,
        n_features: int,
        bends: tuple[Bend, ...] = (),
        interactions: tuple[Interaction, ...] = (),
    ) -> "SolutionPath":
        """Features enter by the size of all that they add, which stays as it is.

        An interaction counts for both of its features, and enters with the later one.

        A model that uses more than ``LONGEST_PATH`` features has a path of its heaviest ones.
        """
        table = weights.reshape(len(weights), -1)
        heaviness = np.abs(table[:n_features]).sum(axis=1)
        for bend in bends:
            heaviness[bend.feature] += np.abs(bend.heights).max(axis=0).sum()
        for interaction in interactions:
            heaviness[list(interaction.features)] += np.abs(interaction.weights).sum()
        order = np.argsort(-heaviness, kind="stable")[
            : min(np.count_nonzero(heaviness), LONGEST_PATH)
        ]
        k = len(order)
        entered = np.tri(k)[:, :, None] * table[order][None]
        constant = table[n_features] if len(table) > n_features else np.zeros(table.shape[1])
        by_feature = {bend.feature: bend for bend in bends}
        steps = [
            tuple(by_feature[j] for j in sorted(order[: i + 1].tolist()) if j in by_feature)
            for i in range(k if bends else 0)
        ]
        place = {j: i for i, j in enumerate(order.tolist())}
        enters = [max(place.get(j, k) for j in each.features) for each in interactions]
        pairs = tuple(
            tuple(each for each, at in zip(interactions, enters, strict=True) if at <= i)
            for i in range(k if interactions else 0)
        )
        return cls(order, entered, np.tile(constant, (k, 1)), tuple(steps), pairs)


@dataclass(frozen=True)
class Solution:
    """What a solver publishes.

    Parameters
    ----------
    weights : ndarray of shape (n_columns,) or (n_columns, n_outputs)
        In unit coordinates, the intercept last.
    bounds : Bounds or None
        Tighter bounds that the solver released and clipped to; they then define the unit
        coordinates, and predictions clip to them. None keeps the declared ones.
    path : SolutionPath or None
        Models with fewer features, computed from the same releases; None for those that leave
        out the lightest weights.
    notes : tuple of str
        Sentences for the record, about what was released besides the model.
    bends : tuple of Bend
        Of features whose effect is not a line, each at most once: knots in unit coordinates from
        -1 to 1 (of ``bounds``, if these are given), heights in margins, like weights. Only where
        ``PublicFacts.shapes`` allows for them, which takes an intercept.
    uncertainty : Uncertainty or None
        How well the weights are known, where the solver says so.
    interactions : tuple of Interaction
        Of pairs of features, each at most once, in the unit coordinates of ``bounds`` if these are
        given; weights in margins. Only where ``PublicFacts.interactions`` allows for them.
    """

    weights: np.ndarray
    bounds: Bounds | None = None
    path: SolutionPath | None = None
    notes: tuple[str, ...] = ()
    bends: tuple[Bend, ...] = ()
    uncertainty: Uncertainty | None = None
    interactions: tuple[Interaction, ...] = ()


class Solver(Protocol):
    """A frozen dataclass of settings with two methods.

    ``schedule`` is called before any data are read; it raises ValueError for impossible settings.
    ``solve`` must ask the curator for exactly what the schedule says, and its result may depend on
    the data only through the curator's answers.
    """

    @property
    def needs(self) -> tuple[type, ...]:
        """What a loss must promise beyond `Loss` (protocols of ``losses/loss.py``)."""
        ...

    @property
    def caveats(self) -> tuple[str, ...]:
        """Why the guarantee is not proven, in sentences for the record; empty if it is."""
        ...

    def schedule(self, public: PublicFacts) -> Schedule | PublishedSchedule:
        """What will be asked for."""
        ...

    def solve(self, data: Dataset, loss: Loss, curator: Curator) -> Solution:
        """Fit the model."""
        ...


def check_calibration(calibration: str) -> None:
    """Raise ValueError unless it is a known calibration."""
    if calibration not in CALIBRATIONS:
        raise ValueError(f"calibration must be one of {CALIBRATIONS}, got {calibration!r}")


def guaranteed(calibration: str) -> bool:
    """Whether noise of this calibration keeps the promise that a fit is asked for."""
    return calibration in ("sound", "proven")


def check_needs(solver: Solver, public: PublicFacts) -> None:
    """Raise ValueError unless the loss, where it is known, promises what the solver needs."""
    if public.loss is None:
        return
    for need in solver.needs:
        if not isinstance(public.loss, need):
            what = (need.__doc__ or "").partition("\n")[0].rstrip(".").lower()
            raise ValueError(
                f"{type(solver).__name__} needs of a loss ({need.__name__}): {what}. "
                f"{type(public.loss).__name__} does not promise that: take another solver, "
                "such as 'pursuit'"
            )


def check_inside(solver: Solver, public: PublicFacts) -> None:
    """Raise ValueError where a solver that another one runs without noise has impossible settings.

    Nobody plans it otherwise, and its refusal would come after the charge.
    """
    solver.schedule(replace(public, initial_weights=None, unit="row", rows_per_unit=1))


def refuse_initial_model(public: PublicFacts, solver: str) -> None:
    """Raise ValueError if a public model to start from was given to a solver that cannot."""
    if public.initial_weights is not None:
        raise ValueError(f"{solver} cannot start from a public model; leave initial_model=None")


def check_positive_integer(name: str, value: object) -> None:
    """Raise ValueError unless the value is a whole number above zero."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")


def check_steps(value: object) -> None:
    """Raise ValueError unless it is a number of steps, or leaves that to a paper's theorem."""
    if value == "theory":
        return
    if isinstance(value, str):
        raise ValueError(f"n_steps must be a whole number of at least 1 or 'theory', got {value!r}")
    check_positive_integer("n_steps", value)


def check_size(
    name: str,
    value: object,
    *,
    optional: bool = False,
    least: float = SMALLEST,
    most: float = LARGEST,
) -> None:
    """Raise ValueError unless the value is a number of a size that arithmetic carries."""
    if optional and value is None:
        return
    # Written so that NaN is refused.
    if not (_is_number(value) and least <= value <= most):
        or_none = " or None" if optional else ""
        raise ValueError(
            f"{name} must be a positive number from {least:g} to {most:g}{or_none}, got {value!r}"
        )


def check_not_negative(name: str, value: object) -> None:
    """Raise ValueError unless the value is zero or a number of a size that arithmetic carries."""
    if not (_is_number(value) and (value == 0 or SMALLEST <= value <= LARGEST)):
        raise ValueError(
            f"{name} must be zero or a number from {SMALLEST:g} to {LARGEST:g}, got {value!r}: "
            "it must not be negative"
        )


def check_clip(value: object) -> None:
    """Raise ValueError unless residuals can be clipped to the value; infinite for not at all."""
    if value != math.inf:
        check_size("clip", value)


def check_share(name: str, value: object) -> None:
    """Raise ValueError unless the value is a part of a budget that leaves something to the rest."""
    if not (_is_number(value) and LEAST_SHARE <= value <= 1 - LEAST_SHARE):
        raise ValueError(
            f"{name} must be between 0 and 1, at least {LEAST_SHARE:g} from either, got {value!r}"
        )


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)

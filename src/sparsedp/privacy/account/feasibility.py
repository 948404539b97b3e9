"""How many records a budget asks for before it can promise anything: public, from noise alone."""

import math
from collections.abc import Iterable

from sparsedp.privacy.budget import Released
from sparsedp.privacy.events import Gaussians, PerturbedMinimum, PureMinima, Selections
from sparsedp.privacy.neighbors import Sensitivity
from sparsedp.privacy.public import PublicFacts
from sparsedp.privacy.published.minima import LaplaceVotes
from sparsedp.privacy.published.published import GaussianReleases, LaplaceSelections


class TooFewRecords(UserWarning):
    """There are fewer records than the noise allows anything to be promised for."""


def records_needed(events: Iterable[Released], public: PublicFacts) -> int:
    """Records below which noise outweighs even a perfectly predictive feature.

    Parameters
    ----------
    events : iterable of events
        Calibrated: what the fit will release.
    public : PublicFacts

    Returns
    -------
    int
        Rounded up to two digits. Necessary, not sufficient: real features are weaker.

    Notes
    -----
    The best case is that every record adds all it may, in the same direction. A selection then
    finds the feature with even odds when its score is the noise scale times the logarithm of the
    number of features; a fit of ``n_nonzero`` weights needs a sum as long as the noise in that
    many directions.

    *Privacy.* A function of settings and calibrated noise; no record is looked at.
    """
    needed = max((_needed(event, public) for event in events), default=0.0)
    unit = 10.0 ** (math.floor(math.log10(max(needed, 1.0))) - 1)
    return math.ceil(math.ceil(needed / unit) * unit)


def shortage(needed: int, public: PublicFacts) -> str:
    """The same in a sentence, for people."""
    return (
        f"With fewer than about {needed} records nothing can be promised: at this budget noise "
        f"outweighs even a perfectly predictive feature (out of {public.n_features}). "
        "Real ones need several times as many records."
    )


def _needed(event: Released, public: PublicFacts) -> float:
    log_features = math.log(max(public.n_features, 2))
    moved = Sensitivity.of_sum(1.0).under(public.neighbors)
    directions = math.sqrt(public.n_nonzero)
    match event:
        case Selections():
            score_range = Sensitivity.of_scores(1.0).under(public.neighbors)
            return score_range / event.epsilon0 * log_features
        case LaplaceSelections() | LaplaceVotes():
            return event.scale * log_features
        case Gaussians() | PerturbedMinimum():
            return moved / event.mu * directions
        case GaussianReleases():
            return event.multiplier / math.sqrt(event.count) * directions
        case PureMinima():
            # The linear term has a length of about its dimension over the rate.
            size = public.n_columns * public.n_outputs
            return math.sqrt(size) / event.rate * directions
        case _:  # counts are not about features
            return 0.0

"""How many records a budget asks for before it can promise anything: public, from noise alone."""

import math
from collections.abc import Iterable

from sparsedp.privacy.kind import Event
from sparsedp.privacy.public import PublicFacts


class TooFewRecords(UserWarning):
    """There are fewer records than the noise allows anything to be promised for."""


def records_needed(events: Iterable[Event], public: PublicFacts) -> int:
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
    needed = max((event.needed(public) for event in events), default=0.0)
    unit = 10.0 ** (math.floor(math.log10(max(needed, 1.0))) - 1)
    return math.ceil(math.ceil(needed / unit) * unit)


def shortage(needed: int, public: PublicFacts) -> str:
    """The same in a sentence, for people."""
    units = "records" if public.unit == "row" else "persons"
    return (
        f"With fewer than about {needed} {units} nothing can be promised: at this budget noise "
        f"outweighs even a perfectly predictive feature (out of {public.n_features}). "
        f"Real ones need several times as many {units}."
    )

"""The kinds of releases, one file each: request, event, cost, proof, words, and the stored form.

Each file imports the mathematics of account/, which knows no kind: what is counted passes through
`Cost`, the normal form. A new kind is a new file and its name in `KINDS`; read contract.md first.
"""

from collections.abc import Mapping

from sparsedp.privacy.events.counts import Count, PureReleases, RoundedCount
from sparsedp.privacy.events.gaussian_releases import GaussianPerturb, GaussianReleases
from sparsedp.privacy.events.gaussians import Gaussians, Perturb
from sparsedp.privacy.events.laplace_selections import LaplaceSelect, LaplaceSelections
from sparsedp.privacy.events.laplace_votes import LaplaceVotes, VoteSelect
from sparsedp.privacy.events.parallel import Parallel, Part, flattened, listed_in, parts_of
from sparsedp.privacy.events.perturbed_minimum import KiferMinimize, Minimize, PerturbedMinimum
from sparsedp.privacy.events.pure_minima import PureMinima, PureMinimize, WangZhangMinimize
from sparsedp.privacy.events.search import RepeatAndSelect
from sparsedp.privacy.events.selections import Select, Selections
from sparsedp.privacy.events.tables import MOVED, LaplaceTable, Tabulate
from sparsedp.privacy.kind import Listed

__all__ = [
    "KINDS",
    "MOVED",
    "Count",
    "GaussianPerturb",
    "GaussianReleases",
    "Gaussians",
    "KiferMinimize",
    "LaplaceSelect",
    "LaplaceSelections",
    "LaplaceTable",
    "LaplaceVotes",
    "Minimize",
    "Parallel",
    "Part",
    "Perturb",
    "PerturbedMinimum",
    "PureMinima",
    "PureMinimize",
    "PureReleases",
    "RepeatAndSelect",
    "RoundedCount",
    "Select",
    "Selections",
    "Tabulate",
    "VoteSelect",
    "WangZhangMinimize",
    "event_from_dict",
    "flattened",
    "kind_of",
    "listed_in",
    "parts_of",
]

KINDS: tuple[type[Listed], ...] = (
    Selections,
    Gaussians,
    PureReleases,
    PerturbedMinimum,
    PureMinima,
    LaplaceSelections,
    GaussianReleases,
    LaplaceVotes,
    RepeatAndSelect,
    LaplaceTable,
    Parallel,
)
"""All kinds that a file may hold. None is ever taken out."""


def kind_of(data: Mapping[str, object]) -> type[Listed]:
    """The kind that ``data["event"]`` names."""
    kind = next((kind for kind in KINDS if kind.stored_as == data.get("event")), None)
    if kind is None:
        raise ValueError(f"unknown event {data.get('event')!r:.40}")
    return kind


def event_from_dict(data: Mapping[str, object]) -> Listed:
    """Rebuild an event from what its ``to_dict`` wrote.

    Parameters
    ----------
    data : mapping
        The key ``"event"`` names the kind, the others are its fields.

    Returns
    -------
    Listed
    """
    kind = kind_of(data)
    fields = {key: value for key, value in data.items() if key != "event"}
    if kind is Parallel:
        return Parallel.read(fields, event_from_dict)  # its parts list events themselves
    try:
        return kind(**fields)
    except TypeError:
        raise ValueError(f"{kind.stored_as} does not have these fields") from None

"""Costs: what releases are asked for, what they amount to, and what may be spent.

Nothing in here knows data or draws noise. From the bottom: account/ (mathematics, in one normal
form of costs), kind.py (what a kind of release must say), events/ (the kinds), schedule and budget.
"""

from sparsedp.privacy.account.accountants import PrivacyProfile, zcdp_epsilon, zcdp_rho
from sparsedp.privacy.account.calibration import calibrate
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.charges import Charges, UnscheduledRelease
from sparsedp.privacy.events import (
    MOVED,
    Count,
    GaussianPerturb,
    GaussianReleases,
    Gaussians,
    KiferMinimize,
    LaplaceSelect,
    LaplaceSelections,
    LaplaceTable,
    LaplaceVotes,
    Minimize,
    Parallel,
    Part,
    Perturb,
    PerturbedMinimum,
    PureMinima,
    PureMinimize,
    PureReleases,
    RoundedCount,
    Select,
    Selections,
    Tabulate,
    VoteSelect,
    WangZhangMinimize,
)
from sparsedp.privacy.kind import Event
from sparsedp.privacy.ledger import BudgetExceeded, Ledger, LedgerError
from sparsedp.privacy.neighbors import NEIGHBORS, Neighbors, Sensitivity
from sparsedp.privacy.public import SHAPES, PublicFacts, Shapes
from sparsedp.privacy.record import PrivacyRecord
from sparsedp.privacy.schedule import PublishedSchedule, Schedule, UnprovenGuarantee

__all__ = [
    "MOVED",
    "NEIGHBORS",
    "SHAPES",
    "Budget",
    "BudgetExceeded",
    "Charges",
    "Count",
    "Event",
    "GaussianPerturb",
    "GaussianReleases",
    "Gaussians",
    "KiferMinimize",
    "LaplaceSelect",
    "LaplaceSelections",
    "LaplaceTable",
    "LaplaceVotes",
    "Ledger",
    "LedgerError",
    "Minimize",
    "Neighbors",
    "Parallel",
    "Part",
    "Perturb",
    "PerturbedMinimum",
    "PrivacyProfile",
    "PrivacyRecord",
    "PublicFacts",
    "PublishedSchedule",
    "PureMinima",
    "PureMinimize",
    "PureReleases",
    "RoundedCount",
    "Schedule",
    "Select",
    "Selections",
    "Sensitivity",
    "Shapes",
    "Tabulate",
    "UnprovenGuarantee",
    "UnscheduledRelease",
    "VoteSelect",
    "WangZhangMinimize",
    "calibrate",
    "zcdp_epsilon",
    "zcdp_rho",
]

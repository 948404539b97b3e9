"""Costs: what releases are asked for, what they amount to, and what may be spent.

Nothing in here knows data or draws noise.
"""

from sparsedp.privacy.account.accountants import PrivacyProfile, zcdp_epsilon, zcdp_rho
from sparsedp.privacy.account.calibration import calibrate
from sparsedp.privacy.budget import Budget, UnscheduledRelease
from sparsedp.privacy.events import (
    Gaussians,
    PerturbedMinimum,
    PureMinima,
    PureReleases,
    Selections,
)
from sparsedp.privacy.ledger import BudgetExceeded, Ledger, LedgerError
from sparsedp.privacy.neighbors import NEIGHBORS, Neighbors, Sensitivity
from sparsedp.privacy.public import PublicFacts
from sparsedp.privacy.published.minima import (
    KiferMinimize,
    LaplaceVotes,
    VoteSelect,
    WangZhangMinimize,
)
from sparsedp.privacy.published.published import (
    GaussianPerturb,
    LaplaceSelect,
    PublishedSchedule,
    RoundedCount,
    UnprovenGuarantee,
)
from sparsedp.privacy.record import PrivacyRecord
from sparsedp.privacy.schedule import Count, Minimize, Perturb, PureMinimize, Schedule, Select

__all__ = [
    "NEIGHBORS",
    "Budget",
    "BudgetExceeded",
    "Count",
    "GaussianPerturb",
    "Gaussians",
    "KiferMinimize",
    "LaplaceSelect",
    "LaplaceVotes",
    "Ledger",
    "LedgerError",
    "Minimize",
    "Neighbors",
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
    "UnprovenGuarantee",
    "UnscheduledRelease",
    "VoteSelect",
    "WangZhangMinimize",
    "calibrate",
    "zcdp_epsilon",
    "zcdp_rho",
]

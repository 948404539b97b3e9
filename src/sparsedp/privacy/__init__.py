"""Costs: what releases are asked for, what they amount to, and what may be spent.

Nothing in here knows data or draws noise.
"""

from sparsedp.privacy.accountants import PrivacyProfile, zcdp_epsilon, zcdp_rho
from sparsedp.privacy.budget import Budget, UnscheduledRelease
from sparsedp.privacy.calibrate import calibrate
from sparsedp.privacy.events import Gaussians, PureReleases, Selections
from sparsedp.privacy.ledger import BudgetExceeded, Ledger
from sparsedp.privacy.neighbors import NEIGHBORS, Neighbors, Sensitivity
from sparsedp.privacy.public import PublicFacts
from sparsedp.privacy.published import (
    GaussianPerturb,
    LaplaceSelect,
    PublishedSchedule,
    RoundedCount,
    UnprovenGuarantee,
)
from sparsedp.privacy.record import PrivacyRecord
from sparsedp.privacy.schedule import Count, Perturb, Schedule, Select

__all__ = [
    "NEIGHBORS",
    "Budget",
    "BudgetExceeded",
    "Count",
    "GaussianPerturb",
    "Gaussians",
    "LaplaceSelect",
    "Ledger",
    "Neighbors",
    "Perturb",
    "PrivacyProfile",
    "PrivacyRecord",
    "PublicFacts",
    "PublishedSchedule",
    "PureReleases",
    "RoundedCount",
    "Schedule",
    "Select",
    "Selections",
    "Sensitivity",
    "UnprovenGuarantee",
    "UnscheduledRelease",
    "calibrate",
    "zcdp_epsilon",
    "zcdp_rho",
]

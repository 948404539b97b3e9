"""Solvers: each asks the curator for what its schedule says, and nothing else.

A folder per family; families do not import each other, but ``wrappers`` may import all of them.
A new solver is one file and its note, one line in registry.py and one in tests/cases.py.
"""

from sparsedp.solvers.coordinate.greedy_coordinate import GreedyCoordinateDescent
from sparsedp.solvers.dense.ada_ssp import AdaSSP, BoostedAdaSSP
from sparsedp.solvers.frank_wolfe.frank_wolfe import FrankWolfe
from sparsedp.solvers.frank_wolfe.multinomial_lasso import MultinomialLasso
from sparsedp.solvers.frank_wolfe.noisy_min import NoisyMinScreening
from sparsedp.solvers.frank_wolfe.rnm_screen import RNMScreen
from sparsedp.solvers.frank_wolfe.screening import ScreenedFrankWolfe, adp_screen
from sparsedp.solvers.gradient.huber_iht import HuberIHT
from sparsedp.solvers.gradient.ight import IGHT
from sparsedp.solvers.gradient.noisy_gd import NoisyGD
from sparsedp.solvers.gradient.theory import SparseTheory
from sparsedp.solvers.lasso.lasso import DidNotConverge, Lasso
from sparsedp.solvers.objective.admm import ADMM
from sparsedp.solvers.objective.objective import ObjectivePerturbation
from sparsedp.solvers.pursuit.inference.pursuit import IntervalPursuit
from sparsedp.solvers.pursuit.pursuit import Pursuit
from sparsedp.solvers.registry import BY_NAME
from sparsedp.solvers.solver import Solution, SolutionPath, Solver
from sparsedp.solvers.wrappers.best_subset import BestSubset
from sparsedp.solvers.wrappers.certificate import Certificate
from sparsedp.solvers.wrappers.kendall import KendallSelection
from sparsedp.solvers.wrappers.screened import Screened
from sparsedp.solvers.wrappers.sparsifier import Sparsifier
from sparsedp.solvers.wrappers.two_stage import TwoStage

__all__ = [
    "ADMM",
    "BY_NAME",
    "IGHT",
    "AdaSSP",
    "BestSubset",
    "BoostedAdaSSP",
    "Certificate",
    "DidNotConverge",
    "FrankWolfe",
    "GreedyCoordinateDescent",
    "HuberIHT",
    "IntervalPursuit",
    "KendallSelection",
    "Lasso",
    "MultinomialLasso",
    "NoisyGD",
    "NoisyMinScreening",
    "ObjectivePerturbation",
    "Pursuit",
    "RNMScreen",
    "Screened",
    "ScreenedFrankWolfe",
    "Solution",
    "SolutionPath",
    "Solver",
    "SparseTheory",
    "Sparsifier",
    "TwoStage",
    "adp_screen",
]

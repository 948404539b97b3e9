"""Solvers: each asks the curator for what its schedule says, and nothing else.

A new solver is one file and its note here, one line in ``BY_NAME`` and one in tests/cases.py.
"""

from collections.abc import Callable

from sparsedp.solvers.admm import ADMM
from sparsedp.solvers.certificate import Certificate
from sparsedp.solvers.frank_wolfe import FrankWolfe
from sparsedp.solvers.greedy_coordinate import GreedyCoordinateDescent
from sparsedp.solvers.ight import IGHT
from sparsedp.solvers.lasso import DidNotConverge, Lasso
from sparsedp.solvers.multinomial_lasso import MultinomialLasso
from sparsedp.solvers.noisy_gd import NoisyGD
from sparsedp.solvers.noisy_min import NoisyMinScreening
from sparsedp.solvers.objective import ObjectivePerturbation
from sparsedp.solvers.pursuit import Pursuit
from sparsedp.solvers.screened import Screened
from sparsedp.solvers.screening import ScreenedFrankWolfe
from sparsedp.solvers.solver import Solution, SolutionPath, Solver
from sparsedp.solvers.sparsifier import Sparsifier
from sparsedp.solvers.two_stage import TwoStage

BY_NAME: dict[str, Callable[[], Solver]] = {
    "frank_wolfe": FrankWolfe,
    "ight": IGHT,
    "noisy_gd": NoisyGD,
    "pursuit": Pursuit,
    "screened": Screened,
    "greedy_coordinate": GreedyCoordinateDescent,
    "multinomial_lasso": MultinomialLasso,
    "noisy_min": NoisyMinScreening,
    "screened_frank_wolfe": ScreenedFrankWolfe,
    "sparsifier": Sparsifier,
    "objective_perturbation": ObjectivePerturbation,
    "two_stage": TwoStage,
    "admm": ADMM,
}
"""Solvers that an estimator takes by name, with their defaults."""

__all__ = [
    "ADMM",
    "BY_NAME",
    "IGHT",
    "Certificate",
    "DidNotConverge",
    "FrankWolfe",
    "GreedyCoordinateDescent",
    "Lasso",
    "MultinomialLasso",
    "NoisyGD",
    "NoisyMinScreening",
    "ObjectivePerturbation",
    "Pursuit",
    "Screened",
    "ScreenedFrankWolfe",
    "Solution",
    "SolutionPath",
    "Solver",
    "Sparsifier",
    "TwoStage",
]

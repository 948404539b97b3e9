"""Solvers that an estimator takes by name, with their defaults: a new solver is one line here."""

from collections.abc import Callable

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
from sparsedp.solvers.objective.admm import ADMM
from sparsedp.solvers.objective.objective import ObjectivePerturbation
from sparsedp.solvers.pursuit.pursuit import Pursuit
from sparsedp.solvers.solver import Solver
from sparsedp.solvers.wrappers.best_subset import BestSubset
from sparsedp.solvers.wrappers.kendall import KendallSelection
from sparsedp.solvers.wrappers.screened import Screened
from sparsedp.solvers.wrappers.sparsifier import Sparsifier
from sparsedp.solvers.wrappers.two_stage import TwoStage

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
    "adp_screen": adp_screen,
    "rnm_screen": RNMScreen,
    "huber_iht": HuberIHT,
    "sparsifier": Sparsifier,
    "objective_perturbation": ObjectivePerturbation,
    "two_stage": TwoStage,
    "admm": ADMM,
    "ada_ssp": AdaSSP,
    "boosted_ada_ssp": BoostedAdaSSP,
    "kendall": KendallSelection,
    "best_subset": BestSubset,
}

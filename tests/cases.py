"""The tables of solvers and losses: a new one gets every common test by one line here."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy import sparse

from sparsedp import SparseLinearRegression, SparseLogisticRegression, SparsePoissonRegressor
from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.losses import Huber, Logistic, Loss, Multinomial, Poisson, Squared
from sparsedp.privacy import PublicFacts
from sparsedp.solvers import (
    ADMM,
    BY_NAME,
    IGHT,
    AdaSSP,
    BestSubset,
    BoostedAdaSSP,
    Certificate,
    FrankWolfe,
    GreedyCoordinateDescent,
    HuberIHT,
    IntervalPursuit,
    KendallSelection,
    MultinomialLasso,
    NoisyGD,
    NoisyMinScreening,
    ObjectivePerturbation,
    Pursuit,
    RNMScreen,
    Screened,
    ScreenedFrankWolfe,
    Solver,
    Sparsifier,
    TwoStage,
)

N_FEATURES = 6
N_CLASSES = 4
BOUNDS = Bounds(lower=[-1, 0, -3, 0, -1, -10.0], upper=[1, 1, 1, 8, 2, 10.0])
TARGET_BOUNDS = (-2.0, 5.0)

SOLVERS: dict[str, Solver] = {
    "frank_wolfe": FrankWolfe(radius=10.0, n_steps=12),
    "frank_wolfe_unclipped": FrankWolfe(radius=3.0, n_steps=12, clip=float("inf")),
    "sparsifier": Sparsifier(FrankWolfe(n_steps=8), n_nonzero=2),
    "sparsifier_count": Sparsifier(
        FrankWolfe(n_steps=8), n_nonzero="count", count_solver=FrankWolfe(n_steps=30)
    ),
    "pursuit": Pursuit(),
    "intervals": IntervalPursuit(n_nonzero=6),
    "ight": IGHT(n_nonzero=2, n_steps=5),
    "ight_peeling": IGHT(n_nonzero=2, n_steps=3, peeling=True),
    "noisy_gd": NoisyGD(n_steps=5),
    "noisy_gd_clip": NoisyGD(n_steps=5, clip=0.8),
    "screened_selection": Screened(FrankWolfe(n_steps=5), n_keep=3, method="selection"),
    "screened_gradient": Screened(FrankWolfe(n_steps=5), n_keep=3, method="gradient"),
    "screened_certified": Screened(
        FrankWolfe(n_steps=5), n_keep=3, method="selection", certificate=Certificate()
    ),
    "screened_gap": Screened(
        FrankWolfe(n_steps=5), n_keep=3, method="gradient", certificate=Certificate(radius=2.0)
    ),
    "greedy_coordinate": GreedyCoordinateDescent(n_steps=6),
    "multinomial_lasso": MultinomialLasso(n_steps=4, balls="per_class"),
    "noisy_min": NoisyMinScreening(n_steps=8, n_keep=2),
    # At ordinary radii only tables without a gap move the rule by what is declared, which random
    # ones are not: those are in tests/solvers/test_screening.py.
    "screened_frank_wolfe": ScreenedFrankWolfe(radius=1e-6, n_steps=9),
    "rnm_screen": RNMScreen(n_steps=6),
    "huber_iht": HuberIHT(n_nonzero=2, n_steps=3),
    "objective_perturbation": ObjectivePerturbation(l1=0.3, rows_per_person=3),
    "two_stage": TwoStage(
        n_nonzero=2,
        n_blocks=4,
        voter=FrankWolfe(n_steps=6),
        solver=ObjectivePerturbation(rows_per_person=3),
    ),
    "ada_ssp": AdaSSP(),
    "boosted_ada_ssp": BoostedAdaSSP(n_rounds=3, clip=0.7),
    # Random tables move these scores by half of what is declared; tests/papers has others.
    "best_subset": BestSubset(FrankWolfe(n_steps=1), n_keep=2),
    "best_subset_proposed": BestSubset(FrankWolfe(n_steps=1), n_keep=3, n_supports=12),
    "kendall": KendallSelection(FrankWolfe(n_steps=1), n_keep=3),
    "admm": ADMM(n_steps=5),
    "admm_pure": ADMM(n_steps=2, noise="pure", penalty="l1/2"),
}

LOSSES: dict[str, Loss] = {
    "logistic": Logistic(),
    "squared": Squared(),
    "multinomial": Multinomial(N_CLASSES),
    "huber": Huber(threshold=0.3),
    "poisson": Poisson(limit=7.0),
}

TAKEN: list[tuple[str, str]] = [
    (name, loss)
    for name, solver in SOLVERS.items()
    for loss in LOSSES
    if all(isinstance(LOSSES[loss], need) for need in solver.needs)
]
"""Solvers and losses that have what these need."""


def taken_by(solver: str) -> list[str]:
    """Losses that a solver of the table takes."""
    return [loss for name, loss in TAKEN if name == solver]


def target_words(solver: str) -> tuple[str, ...]:
    """For the command line: targets 0 and 1 as labels, or as numbers where those are refused."""
    if all(isinstance(LOSSES["logistic"], need) for need in BY_NAME[solver]().needs):
        return ("--classes", "0,1")
    return ("--target-bounds", "0,1", "--loss", "huber")


def is_number(loss: str) -> bool:
    """Whether the target is a number, not a label."""
    return LOSSES[loss].n_classes is None


def declared(loss: str) -> dict[str, Any]:
    """What the gate has to be told about the target."""
    classes = LOSSES[loss].n_classes
    return {"target_bounds": TARGET_BOUNDS} if classes is None else {"classes": range(classes)}


def estimator(loss: str, **settings: Any) -> Any:
    """What fits this loss, for the tables of this module."""
    minimized = LOSSES[loss]
    if isinstance(minimized, Poisson):
        return SparsePoissonRegressor(max_count=minimized.limit, **settings)
    if minimized.n_classes is None:
        return SparseLinearRegression(
            target_bounds=TARGET_BOUNDS, loss=cast(Huber, minimized), **settings
        )
    return SparseLogisticRegression(classes=range(minimized.n_classes), **settings)


@dataclass(frozen=True)
class Table:
    """Raw records, before the gate; by persons and with weights, if these are given."""

    X: np.ndarray
    y: np.ndarray
    loss: str
    groups: np.ndarray | None = None
    weights: np.ndarray | None = None

    def dataset(self, layout: str = "dense") -> Dataset:
        """Through the gate, as an array or a sparse matrix."""
        how = {**declared(self.loss), "groups": self.groups, "sample_weight": self.weights}
        return Dataset.clip(self.features(layout), self.y, BOUNDS, **how)

    def features(self, layout: str) -> Any:
        """The raw features, as an array or a sparse matrix."""
        return self.X if layout == "dense" else sparse.csr_array(self.X)

    def with_record(self, x: np.ndarray, y: float) -> "Table":
        """A record more."""
        return Table(np.vstack([self.X, x]), np.append(self.y, y), self.loss)


def random_table(loss: str, n: int, seed: int) -> Table:
    """Records all over the box and beyond it."""
    random = np.random.default_rng(seed)
    X = 4 * random.normal(size=(n, N_FEATURES))
    X[random.random(X.shape) < 0.4] = 0
    classes = LOSSES[loss].n_classes
    if classes is None:
        return Table(X, random.uniform(-4, 7, size=n), loss)
    return Table(X, random.integers(0, classes, size=n), loss)


def corner_records(loss: str, seed: int) -> list[tuple[np.ndarray, float]]:
    """Records at corners of the domain, with extreme targets: there a record weighs the most."""
    random = np.random.default_rng(seed)
    classes = LOSSES[loss].n_classes
    targets = [-9.0, 9.0] if classes is None else [0, classes - 1]
    corners = [np.full(N_FEATURES, 1e6), np.zeros(N_FEATURES)]
    corners += [random.choice([-1e6, 1e6], size=N_FEATURES) for _ in range(4)]
    return [(x, y) for x in corners for y in targets]


def public_facts(loss: str, neighbors: str, n_records: int, **units: Any) -> PublicFacts:
    """What a solver may know about the tables of this module."""
    return PublicFacts(
        n_features=N_FEATURES,
        n_nonzero=3,
        n_outputs=LOSSES[loss].n_outputs,
        neighbors="add_remove" if neighbors == "add_remove" else "replace_one",
        n_records=n_records if neighbors == "replace_one" else None,
        loss=LOSSES[loss],
        **units,
    )

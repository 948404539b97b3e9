"""What `sparsedp audit --all` audits: every registered solver, and what papers have published."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial

from sparsedp.audit.attack import Attack
from sparsedp.audit.neighbors import (
    Pair,
    bent_pair,
    canceling_pair,
    flipped_label_pair,
    interacting_pair,
    linear_pair,
    loud_pair,
    turned_row_pair,
    worst_pairs,
)
from sparsedp.audit.verdict import AuditResult, audit, enumerated
from sparsedp.losses import Huber, Logistic, Loss, Multinomial, Poisson, Squared
from sparsedp.privacy import NEIGHBORS, Neighbors
from sparsedp.solvers import (
    ADMM,
    BY_NAME,
    IGHT,
    BestSubset,
    BoostedAdaSSP,
    FrankWolfe,
    IntervalPursuit,
    KendallSelection,
    MultinomialLasso,
    NoisyGD,
    ObjectivePerturbation,
    Pursuit,
    RNMScreen,
    ScreenedFrankWolfe,
    Solver,
    Sparsifier,
    TwoStage,
)

LOSSES: dict[str, Loss] = {
    "logistic": Logistic(),
    "squared": Squared(),
    "multinomial": Multinomial(3),
    "huber": Huber(threshold=0.5),
    "poisson": Poisson(limit=4.0),
}

STEPS = 15
"""Solvers take at most so many steps here: fits are cheap then, the guarantee is the same."""

N_LOUD = 8
"""Features that a descent has."""

N_BENT = 2000
"""Records where features are to bend: with fewer noise would hide their shapes."""

N_PAIRED, N_INTERACTING = 3, 4000
"""Features and records where features are to interact."""

SETTINGS: dict[str, Solver] = {
    # In a small ball the loss stays as steep as it is at zero.
    "frank_wolfe": FrankWolfe(radius=0.25, n_steps=STEPS),
    "sparsifier": Sparsifier(FrankWolfe(radius=0.25, n_steps=STEPS)),
    # With one ball it would be Frank-Wolfe; here fewer selections are paid for than are made.
    "multinomial_lasso": MultinomialLasso(radius=0.25, n_steps=STEPS, balls="per_class"),
    "rnm_screen": RNMScreen(radius=0.25, n_steps=STEPS),
    "boosted_ada_ssp": BoostedAdaSSP(n_rounds=STEPS),
    # What is chosen is looked at, not what Pursuit does then: that has lines of its own.
    "best_subset": BestSubset(FrankWolfe(radius=0.25, n_steps=STEPS), n_keep=1),
    "kendall": KendallSelection(FrankWolfe(radius=0.25, n_steps=STEPS), n_keep=1),
    # Blocks must not outnumber the records.
    "two_stage": TwoStage(n_blocks=3, voter=FrankWolfe(n_steps=5)),
}
"""Where the defaults would hide what one record does, or could not be used with few records."""


@dataclass(frozen=True)
class Target:
    """One line of the table.

    Parameters
    ----------
    name : str
        How the method is called.
    solver : Solver
    loss : Loss
    epsilon, delta : float
        What is claimed.
    neighbors : {"add_remove", "replace_one"}
    pair : callable, optional
        Makes the neighbors to attack; without it all of `worst_pairs` are tried.
    exact : bool
        Whether the pair can be enumerated.
    effort : int
        Times as many runs as asked for, where fits are cheap and the violation is slight.
    rows : int, optional
        Of the person who differs, where persons are protected.
    """

    name: str
    solver: Solver
    loss: Loss
    epsilon: float
    delta: float
    neighbors: Neighbors
    pair: Callable[[], Pair] | None = None
    exact: bool = False
    effort: int = 1
    rows: int | None = None

    def run(self, runs: int, seed: int) -> AuditResult:
        """Audit it; raises `Refused` if the solver does not take the loss."""
        claim = self.solver, self.loss, self.epsilon, self.delta
        runs *= self.effort
        if self.pair is None:
            pairs = worst_pairs(self.loss, self.neighbors, self.rows)
            how = {"runs": runs, "seed": seed, "name": self.name}
            return audit(*claim, self.neighbors, pairs=pairs, **how)
        if self.exact:
            return enumerated(*claim, self.pair(), name=self.name)
        pairs = [self.pair()]
        return audit(*claim, self.neighbors, runs=runs, seed=seed, pairs=pairs, name=self.name)


def registered(
    epsilon: float = 2.0,
    delta: float = 0.01,
    *,
    names: Sequence[str] = tuple(BY_NAME),
    losses: Sequence[str] = tuple(LOSSES),
    neighbors: Sequence[Neighbors] = NEIGHBORS,
) -> Iterator[Target]:
    """Every solver that has a name, with every loss, under both neighbor relations."""
    for name in names:
        solver = SETTINGS[name] if name in SETTINGS else brisk(BY_NAME[name]())
        for loss in losses:
            for relation in neighbors:
                yield Target(name, solver, LOSSES[loss], epsilon, delta, relation)


def persons(epsilon: float = 2.0, delta: float = 0.01) -> Iterator[Target]:
    """Persons with several rows: some solvers that sum in different ways."""
    for name, loss in (
        ("frank_wolfe", "squared"),
        ("pursuit", "logistic"),
        ("noisy_gd", "logistic"),
        ("multinomial_lasso", "multinomial"),
        ("rnm_screen", "squared"),
        ("huber_iht", "huber"),
        ("boosted_ada_ssp", "logistic"),
        ("best_subset", "squared"),
        ("kendall", "squared"),
    ):
        for target in registered(epsilon, delta, names=[name], losses=[loss]):
            yield replace(target, name=f"{name}, persons", rows=5)


def bent(epsilon: float = 2.0, delta: float = 0.01) -> Iterator[Target]:
    """Features that bend, one of which is all there is, or some of which are chosen."""
    for n_features, loss in ((1, "logistic"), (1, "squared"), (4, "logistic"), (4, "multinomial")):
        for target in registered(epsilon, delta, names=["pursuit"], losses=[loss]):
            make = partial(bent_pair, target.loss, target.neighbors, n_features, N_BENT)
            yield replace(target, name="pursuit, shapes", pair=make)


def interacting(epsilon: float = 2.0, delta: float = 0.01) -> Iterator[Target]:
    """All features at once, which interact."""
    solver = Pursuit(n_nonzero=N_PAIRED)
    for loss in ("logistic", "squared"):
        for relation in NEIGHBORS:
            target = Target("pursuit, pairs", solver, LOSSES[loss], epsilon, delta, relation)
            make = partial(interacting_pair, target.loss, relation, N_PAIRED, N_INTERACTING)
            yield replace(target, pair=make)


def loud(epsilon: float = 2.0, delta: float = 0.01) -> Iterator[Target]:
    """All features at once under loud noise, where Pursuit takes a descent."""
    solver = Pursuit(n_nonzero=N_LOUD)
    for loss, n_records in (("logistic", 50), ("multinomial", 45), ("squared", 90)):
        for relation in NEIGHBORS:
            target = Target("pursuit, loud", solver, LOSSES[loss], epsilon, delta, relation)
            # A replaced record moves sums twice as far.
            n_here = n_records if relation == "add_remove" else 2 * n_records
            yield replace(target, pair=partial(loud_pair, target.loss, relation, N_LOUD, n_here))


def inferring(epsilon: float = 2.0, delta: float = 0.01) -> Iterator[Target]:
    """Coefficients with intervals: scores, their squares and Hessians are released as well."""
    solver = IntervalPursuit(n_nonzero=4)  # all features of the pairs that have a constant
    for loss in ("logistic", "squared"):
        for relation in NEIGHBORS:
            target = Target("pursuit, intervals", solver, LOSSES[loss], epsilon, delta, relation)
            yield target
            if loss == "logistic":
                yield replace(target, name="pursuit, intervals, persons", rows=5)


def brisk(solver: Solver) -> Solver:
    """The same solver with at most `STEPS` steps, also of solvers inside it."""
    if not is_dataclass(solver) or isinstance(solver, type):
        raise TypeError(f"solvers are dataclasses, and {solver!r} is not")
    changes: dict[str, object] = {}
    for field in fields(solver):
        value = getattr(solver, field.name)
        if field.name == "n_steps":
            changes[field.name] = STEPS if value is None else min(value, STEPS)
        elif is_dataclass(value):
            changes[field.name] = brisk(value)
    return replace(solver, **changes)


def sharp() -> Iterator[Target]:
    """A sound claim that is nearly attained: shows that the audit comes close to the truth."""
    steps = FrankWolfe(radius=0.25, n_steps=60)
    for relation in NEIGHBORS:
        make = partial(_two_vertices, Squared(), relation)
        yield Target("frank_wolfe", steps, Squared(), 2.0, 0.01, relation, make, exact=True)


def published() -> Iterator[Target]:
    """What papers claim, on the neighbors that refute it, next to a claim that holds."""
    steps = FrankWolfe(radius=1e-6, n_steps=100, calibration="published")
    for relation in NEIGHBORS:
        make = partial(linear_pair, relation)
        yield Target("frank_wolfe", steps, Squared(), 5.0, 0.01, relation, make, exact=True)
    columns = MultinomialLasso(n_steps=1, calibration="published")
    flipped = partial(flipped_label_pair, 10_000)
    yield _replacing("multinomial_lasso", columns, Multinomial(2), 1.0, 1e-4, flipped, exact=True)
    screen = ScreenedFrankWolfe(radius=1.0, n_steps=1, calibration="published")
    turned = partial(screening_pair, screen, 60_000, 2)
    yield _replacing("screened_frank_wolfe", screen, Squared(), 5.0, 1e-3, turned)
    aggregate = NoisyGD(n_steps=1, clip=0.01, calibration="published")
    canceling = partial(canceling_pair, Logistic())
    yield _replacing("noisy_gd", aggregate, Logistic(), 1.0, 1e-3, canceling)
    threshold = IGHT(n_steps=1, clip=0.5, calibration="published")
    two = partial(_two_vertices, Logistic(), "replace_one")
    yield replace(_replacing("ight", threshold, Logistic(), 10.0, 0.01, two), effort=10)
    minimum = ObjectivePerturbation(calibration="published")
    alternating = ADMM(n_steps=3, noise="pure", calibration="published")
    # With one winner the probabilities of a vote can be computed; with more they cannot.
    voter = FrankWolfe(n_steps=5)
    vote = TwoStage(1, n_blocks=3, voter=voter, solver=minimum, calibration="published")
    for relation in NEIGHBORS:
        for name, solver in (
            ("objective_perturbation", minimum),
            ("admm", alternating),
            ("two_stage", vote),
        ):
            yield Target(name, solver, Logistic(), 2.0, 0.01, relation)


def proven() -> Iterator[Target]:
    """The same algorithms with noise that is proven: on what refutes the papers, and elsewhere."""
    counted = Sparsifier(FrankWolfe(radius=0.25, n_steps=STEPS), n_nonzero="count", beta=4.6)
    count = Target("sparsifier", counted, Logistic(), 2.0, 0.01, "replace_one")
    for target in (*published(), count):
        same = replace(target, solver=_proven(target.solver), effort=1)
        yield same
        if target.neighbors == "replace_one" and target.name in ONE_RELATION:
            yield replace(same, neighbors="add_remove", pair=None, exact=False)


ONE_RELATION = ("screened_frank_wolfe", "noisy_gd", "ight", "sparsifier", "multinomial_lasso")
"""Methods whose published noise is attacked by replacing a record only."""


def _proven(solver: Solver) -> Solver:
    """The solver, and the one inside it, with noise that is proven."""
    if not is_dataclass(solver) or isinstance(solver, type):
        raise TypeError(f"solvers are dataclasses, and {solver!r} is not")
    changes: dict[str, object] = {"calibration": "proven"}
    if isinstance(solver, Sparsifier | TwoStage):
        changes["solver"] = _proven(solver.solver)
    return replace(solver, **changes)


def _replacing(
    name: str,
    solver: Solver,
    loss: Loss,
    epsilon: float,
    delta: float,
    pair: Callable[[], Pair],
    exact: bool = False,
) -> Target:
    return Target(name, solver, loss, epsilon, delta, "replace_one", pair, exact)


def _two_vertices(loss: Loss, neighbors: Neighbors) -> Pair:
    return worst_pairs(loss, neighbors)[0]


def screening_pair(solver: ScreenedFrankWolfe, n_records: int, n_features: int) -> Pair:
    """A target that the model fits exactly after its first step, so that the gap is zero.

    One turned row then opens the gap, and the rule has the root of the gap in it: it moves by the
    order of 1/sqrt(n) where the formula has noise for 1/n.
    """
    probe = Attack(solver, Squared(), turned_row_pair(1.0, n_records, n_features), 5.0, 1e-3)
    _, queries = probe.record(probe.pair.one, b"probe")
    start = 1.0 - queries[0].values[0] / n_records  # the prediction at the starting point
    target = start / 3 + 2 / 3 * solver.radius  # the prediction after a step to a vertex +e_j
    return turned_row_pair(target, n_records, n_features)

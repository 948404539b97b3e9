"""Parameters chosen on private records without noise: Khanna et al. (2024), Wang and Gu (2019).

One record of the validation part decides about the parameter, and the model shows which it was.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from sparsedp.audit.attack import Attack
from sparsedp.audit.errata.erratum import CONFIDENCE, Erratum, Finding, violation
from sparsedp.audit.lower_bound import Event
from sparsedp.audit.neighbors import Pair, Record, dataset
from sparsedp.losses import Logistic
from sparsedp.solvers import IGHT, FrankWolfe, Solver

RUNS = 100
EPSILON, DELTA = 1.0, 1e-4


def _training() -> Pair:
    """Records that all say 1: three in four by the first feature, the others by the second too.

    A model with a positive first weight gets all of them right, whatever its second one.
    """
    plain: Record = [1.0, 0.0], 1
    mixed: Record = [0.05, 1.0], 1
    data = dataset([plain] * 6000 + [mixed] * 2000, Logistic(), intercept=False)
    return Pair("training", data, data, "replace_one")


def _weights(attack: Attack, seed: str) -> np.ndarray:
    return attack.record(attack.pair.one, seed.encode())[0].weights


def _chosen(attacks: Sequence[Attack], label: int, seed: str) -> int:
    """The setting whose model gets more of the validation part right; ties go to the first.

    Of the validation part only the record (0, 1) matters: all others are as in training, and
    every model gets these right. It is called 1 by models with a positive second weight.
    """
    right = [
        bool(_weights(attack, f"{seed}/{k}")[1] > 0) == bool(label)
        for k, attack in enumerate(attacks)
    ]
    return int(np.argmax(right))


def _bound(choose: Callable[[int, str], int], attacks: Sequence[Attack]) -> float:
    """From the event that the model uses the second feature, fixed beforehand."""
    hits = []
    for label in (1, 0):
        count = 0
        for i in range(RUNS):
            attack = attacks[choose(label, f"{label}/{i}")]
            count += bool(_weights(attack, f"{label}/{i}/final")[1] != 0)
        hits.append(count)
    return Event((hits[0], hits[1]), (RUNS, RUNS)).epsilon(DELTA, 1 - CONFIDENCE)


def _convict(settings: Sequence[Solver]) -> Finding:
    pair = _training()
    attacks = [Attack(solver, Logistic(), pair, EPSILON, DELTA) for solver in settings]
    found = _bound(lambda label, seed: _chosen(attacks, label, seed), attacks)
    within = _bound(lambda _label, _seed: 0, attacks)
    against = "the setting is fixed beforehand"
    return violation(EPSILON, DELTA, found, within, exact=False, against=against)


def _radius() -> Finding:
    return _convict(
        [FrankWolfe(radius=r, n_steps=20, calibration="published") for r in (1.0, 50.0)]
    )


def _sparsity() -> Finding:
    how = {"n_steps": 5, "step_size": 4.0, "clip": 0.5, "calibration": "published"}
    return _convict([IGHT(n_nonzero=k, **how) for k in (1, 2)])


WHY = (
    "All 8,000 training records have the label 1; three quarters are (1, 0), the others (0.05, "
    "1). {which} The validation part has the same kinds of records, which both models get "
    "right, and one record (0, 1), with the label 1 or 0: it is right only with a second "
    "weight, or only without. So this label chooses the setting, and whether the published "
    "model has a second weight shows it. 100 repetitions on each side, one fit per setting "
    "and one for publication."
)


def lasso_errata() -> Iterator[Erratum]:
    """Of Khanna et al. (2024)."""
    yield Erratum(
        name="lasso-validation",
        paper="Khanna et al. (2024)",
        reference="Section 4.2 (choice of lambda)",
        claim="With lambda chosen among five values by the accuracy on 20 % of the data, "
        "epsilon_1 + epsilon_2 is the privacy of the published weights.",
        why=WHY.format(
            which="With lambda = 1 Private LASSO gives weight to the first only, with 50 to both."
        ),
        convict=_radius,
        instead="PrivateSearchCV, which pays for the search; or a radius that is fixed beforehand.",
    )


def ight_errata() -> Iterator[Erratum]:
    """Of Wang and Gu (2019)."""
    yield Erratum(
        name="ight-validation",
        paper="Wang and Gu (2019)",
        reference="Section 6 (choice of step size, iterations and thresholding parameter)",
        claim="With parameters chosen by five-fold cross-validation on the private data, the "
        "guarantee is that of one fit.",
        why=WHY.format(which="DP-IGHT keeps s = 1 or s = 2 features.")
        + " One held-out part stands for the five.",
        convict=_sparsity,
        instead="PrivateSearchCV; or IGHT with its defaults, whose steps need no tuning.",
    )

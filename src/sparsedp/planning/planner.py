"""The order of a plan: facts, law, records needed, scores, price."""

from dataclasses import replace

import numpy as np

from sparsedp.data.bounds import Bounds
from sparsedp.data.schema import Schema
from sparsedp.fit.plan import default_size
from sparsedp.planning.band import LOSSES, Band, Ceiling, band, hopeless, records_for
from sparsedp.planning.facts import RATE, SPREAD, Facts, Kind, NotMeasured
from sparsedp.planning.features import FeatureCount, features_of
from sparsedp.planning.law import Curves, Law
from sparsedp.planning.public import PublicSample, Trial, tried
from sparsedp.planning.result import Need, Price, QualityPlan
from sparsedp.planning.scores import telling
from sparsedp.privacy import NEIGHBORS, Ledger, Neighbors
from sparsedp.solvers import Pursuit

EPSILONS = (0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)
"""Of the picture, and that of the plan."""

HOLDOUT = 0.2
"""For which private scores are foretold where no holdout is planned."""


def plan(
    *,
    n_records: float,
    schema: Schema | None = None,
    bounds: Bounds | None = None,
    n_features: int | None = None,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    ceiling: float | tuple[float, float] | None = None,
    rate: float | None = None,
    spread: float | None = None,
    task: str | None = None,
    n_classes: int | None = None,
    neighbors: Neighbors = "add_remove",
    holdout: float | None = None,
    ledger: Ledger | None = None,
    public: PublicSample | None = None,
) -> QualityPlan:
    """Say what quality to expect of a fit with the default settings, before there are records.

    Parameters
    ----------
    n_records : float
        How many records are planned, about; persons, where the schema has a column of persons.
        Never count private records for this: under ``neighbors="add_remove"`` their number is
        private.
    schema : Schema, optional
        Says how many columns there are, and which classes or limits the target has.
    bounds : Bounds, optional
        With limits of each feature, in the place of a schema.
    n_features : int, optional
        Number of columns, in the place of both.
    epsilon, delta : float
        The budget of the fit.
    ceiling : float or (float, float), optional
        AUC (numbers: R2; several classes: accuracy) that a good model without privacy reaches on
        such records, boosted trees or a linear model, whichever is better: best a range that holds
        in nine of ten cases. It matters most. Where it may come from: the literature, last year's
        model, a public sample. By default the range of public tables, which is wide.
    rate : float, optional
        Share of the second class; of several classes, of the largest. By default 0.2, or that all
        classes are alike.
    spread : float, optional
        Of a number: its standard deviation over half the width of its limits. By default 0.3.
    task : {"classification", "regression"}, optional
        By default what the schema says, or classification.
    n_classes : int, optional
        Where there is no schema; by default 2.
    neighbors : {"add_remove", "replace_one"}
    holdout : float, optional
        Share of the records that are kept for a private evaluation.
    ledger : Ledger, optional
        Which the fit will be charged to. It is read and not charged.
    public : PublicSample, optional
        A public sample: the solver itself is then run on it, repeated to as many records as are
        planned.

    Returns
    -------
    QualityPlan

    Notes
    -----
    *Privacy.* A function of public numbers (and of a public sample): no private record is touched,
    nothing is charged, and a plan may be published. The promise is about data sets like the public
    ones that the law was measured on (planning.md); it is no part of the privacy guarantee.

    Examples
    --------
    >>> from sparsedp import plan
    >>> expected = plan(n_records=20_000, n_features=30, epsilon=1, ceiling=(0.80, 0.88), rate=0.2)
    >>> expected.metric, expected.null
    ('AUC', 0.5)
    >>> 0.6 < expected.quality.at_least < expected.quality.expected < 0.9
    True
    """
    if neighbors not in NEIGHBORS:
        raise ValueError(f"neighbors must be one of {NEIGHBORS}, got {neighbors!r}")
    if holdout is not None and not 0 < holdout < 1:
        raise ValueError("holdout must be a share between 0 and 1")
    if public is not None and schema is None and task is None:
        kind, classes = public.kind, public.n_classes
    else:
        kind, classes = _target(schema, task, n_classes)
    d = _width(schema, bounds, n_features)
    if public is not None:
        rate, spread = rate or public.rate, spread or public.spread
    kept = 1 - (holdout or 0.0)
    facts = Facts(
        kind=kind,
        n_records=n_records * kept,
        n_features=d,
        n_nonzero=default_size(d, Pursuit(), labelled=kind != "regression"),
        epsilon=epsilon,
        delta=delta,
        neighbors=neighbors,
        rate=_rate(kind, classes) if rate is None else rate,
        spread=SPREAD if spread is None else spread,
        n_classes=classes,
    )
    law = Law.read().of(kind)
    trial = None if public is None else tried(public, facts)
    guess = Ceiling.of(_ceiling(ceiling, trial, law, facts), facts)
    found = band(law, facts, guess) if trial is None else trial.band
    return QualityPlan(
        facts=facts,
        n_records=n_records,
        holdout=holdout,
        ceiling=guess,
        assumed=_assumed(kind, ceiling if trial is None else 1.0, rate, spread),
        quality=found,
        hopeless=hopeless(found, facts, guess),
        by_epsilon=_by_epsilon(law, facts, guess) if trial is None else trial.by_epsilon,
        needs=tuple(
            Need.of(
                loss,
                records_for(law, facts, guess, loss, sure=False) / kept,
                records_for(law, facts, guess, loss, sure=True) / kept,
            )
            for loss in LOSSES
        ),
        features=_features(law, facts, guess, trial),
        scores=telling(facts, found.expected, holdout or HOLDOUT, n_records),
        price=Price.of(epsilon, delta, ledger),
        n_tables=law.n_groups,
        n_fits=law.n_fits if trial is None else trial.n_fits,
        from_public=trial is not None,
    )


def _target(schema: Schema | None, task: str | None, n_classes: int | None) -> tuple[Kind, int]:
    """Kind of target and number of classes, by the schema or as they are said."""
    target = None if schema is None else schema.target
    if task == "count" or (target is not None and target.max_count is not None):
        raise NotMeasured("quality of models of counts was not measured: nothing can be promised")
    if task not in (None, "classification", "regression"):
        raise ValueError(f"task must be 'classification' or 'regression', got {task!r}")
    if target is not None and target.classes is not None:
        declared: str | None = "classification"
        n_classes = len(target.classes)
    else:
        declared = "regression" if target is not None and target.bounds is not None else None
    if task is not None and declared is not None and task != declared:
        raise ValueError(f"the schema declares a target for {declared}, not for {task}")
    if (task or declared) == "regression":
        return "regression", 2
    n_classes = 2 if n_classes is None else n_classes
    if n_classes < 2:
        raise ValueError("n_classes must be at least 2")
    return ("binary" if n_classes == 2 else "multiclass"), n_classes


def _width(schema: Schema | None, bounds: Bounds | None, n_features: int | None) -> int:
    """Number of columns; refuses what was not measured."""
    if schema is not None and schema.features:
        bounds = schema.bounds
        d = schema.n_columns
    else:
        widths = [] if bounds is None else [len(np.atleast_1d(bounds.lower))]
        d = max(widths, default=1) if n_features is None else n_features
        if n_features is None and d == 1:
            raise ValueError("say how many columns there are: a schema, or n_features")
    if bounds is not None and bounds.row_norm is not None:
        raise NotMeasured(
            "quality was measured for features with bounds of their own, not for rows of a "
            "bounded norm: nothing can be promised"
        )
    if n_features is not None and n_features != d:
        raise ValueError(f"the schema has {d} columns, not {n_features}")
    return d


def _rate(kind: Kind, n_classes: int) -> float:
    return 1 / n_classes if kind == "multiclass" else RATE


def _assumed(
    kind: Kind,
    ceiling: float | tuple[float, float] | None,
    rate: float | None,
    spread: float | None,
) -> tuple[str, ...]:
    """What nobody said."""
    said = {"ceiling": ceiling, **({"spread": spread} if kind == "regression" else {"rate": rate})}
    return tuple(name for name, given in said.items() if given is None)


def _ceiling(
    given: float | tuple[float, float] | None, trial: Trial | None, law: Curves, facts: Facts
) -> float | tuple[float, float]:
    """As it was given, as the sample has it, or as public tables have it."""
    if given is not None:
        return given
    if trial is not None:
        return max(trial.ceiling, facts.null + 0.01)
    low, high = law.ceilings
    if facts.kind == "multiclass":  # stored as shares of what guessing leaves
        low, high = (facts.null + share * (1 - facts.null) for share in (low, high))
    return low, high


def _by_epsilon(law: Curves, facts: Facts, guess: Ceiling) -> tuple[tuple[float, Band], ...]:
    epsilons = sorted({*EPSILONS, facts.epsilon})
    return tuple((each, band(law, facts.at(epsilon=each), guess)) for each in epsilons)


def _features(law: Curves, facts: Facts, guess: Ceiling, trial: Trial | None) -> FeatureCount:
    found = features_of(law, facts, guess)
    if trial is None or found.real is None:
        return found
    real = round(found.real * trial.used[1] / found.used[1])
    return replace(found, used=trial.used, real=real)

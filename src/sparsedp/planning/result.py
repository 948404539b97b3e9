"""What a plan says: to people, to notebooks and to programs."""

from dataclasses import asdict, dataclass
from typing import TypedDict

from sparsedp.planning.band import Band, Ceiling
from sparsedp.planning.facts import Facts
from sparsedp.planning.features import FeatureCount
from sparsedp.planning.picture import fragment
from sparsedp.planning.scores import Telling
from sparsedp.planning.words import text_of
from sparsedp.privacy import Ledger


class Promise(TypedDict):
    """What a model file keeps of a plan."""

    metric: str
    expected: float
    at_least: float
    null: float
    ceiling: list[float]


@dataclass(frozen=True)
class Need:
    """Records with which noise costs no more than a loss: likely, and at the promised end."""

    loss: float
    likely: float
    sure: float

    @classmethod
    def of(cls, loss: float, likely: float, sure: float) -> "Need":
        """Who wants to be sure needs no fewer."""
        return cls(loss, likely, max(likely, sure))


@dataclass(frozen=True)
class Price:
    """What the fit will cost, and what a ledger has before and after it.

    Parameters
    ----------
    epsilon, delta : float
        Of the fit; with a holdout the evaluation costs no more.
    left : (float, float) or None
        Epsilon and delta of the ledger now, as far as their sums are concerned.
    """

    epsilon: float
    delta: float
    left: tuple[float, float] | None

    @classmethod
    def of(cls, epsilon: float, delta: float, ledger: Ledger | None) -> "Price":
        """Read the ledger; it is not charged."""
        if ledger is None:
            return cls(epsilon, delta, None)
        left = ledger.remaining()
        return cls(epsilon, delta, (left.epsilon, left.delta))

    @property
    def remains(self) -> tuple[float, float] | None:
        """Of the ledger after the fit; below zero where it does not fit in."""
        if self.left is None:
            return None
        return self.left[0] - self.epsilon, self.left[1] - self.delta


@dataclass(frozen=True, kw_only=True, repr=False)
class QualityPlan:
    """What quality to expect of a private fit, and what it takes.

    Parameters
    ----------
    facts : Facts
        The public numbers of the fit itself: without the records of a holdout.
    n_records : float
        That are planned, with those of a holdout.
    holdout : float or None
    ceiling : Ceiling
        What a good model without privacy is believed to reach.
    assumed : tuple of str
        Which of ``ceiling``, ``rate`` and ``spread`` nobody said.
    quality : Band
        ``quality.at_least`` holds in 19 of 20 cases, ``quality.expected`` is the middle.
    hopeless : bool
        Whether nothing better than guessing is to be expected.
    by_epsilon : tuple of (float, Band)
    needs : tuple of Need
        Records with which noise costs no more than 0.05, 0.02 and 0.01.
    features : FeatureCount
    scores : Telling
        What a private evaluation will tell.
    price : Price
    n_tables, n_fits : int
        What the prediction rests on.
    from_public : bool
        Whether the solver was run on a public sample; otherwise the law speaks.

    Privacy
    -------
    Everything follows from public numbers: it may be published, and nothing was charged.
    """

    facts: Facts
    n_records: float
    holdout: float | None
    ceiling: Ceiling
    assumed: tuple[str, ...]
    quality: Band
    hopeless: bool
    by_epsilon: tuple[tuple[float, Band], ...]
    needs: tuple[Need, ...]
    features: FeatureCount
    scores: Telling
    price: Price
    n_tables: int
    n_fits: int
    from_public: bool

    @property
    def metric(self) -> str:
        """AUC, R2 or accuracy."""
        return self.facts.metric

    @property
    def null(self) -> float:
        """Quality of guessing."""
        return self.facts.null

    def line(self) -> str:
        """The promise in one sentence."""
        if self.hopeless:
            return (
                f"Planned: nothing better than guessing ({self.metric} {self.null:.2f}) is to be "
                f"expected of about {self.n_records:,.0f} records at epsilon = "
                f"{self.price.epsilon:g}"
            )
        return (
            f"Planned: {self.metric} about {self.quality.expected:.2f}, at least "
            f"{self.quality.at_least:.2f} in 19 of 20 cases, for about {self.n_records:,.0f} "
            f"records at epsilon = {self.price.epsilon:g} (guessing {self.null:.2f})"
        )

    def planned(self) -> Promise:
        """What a model file keeps of a plan: no number of records."""
        return {
            "metric": self.metric,
            "expected": round(self.quality.expected, 3),
            "at_least": round(self.quality.at_least, 3),
            "null": round(self.null, 3),
            "ceiling": [round(self.ceiling.low, 3), round(self.ceiling.high, 3)],
        }

    def to_dict(self) -> dict[str, object]:
        """Plain data, ready for JSON."""
        return {
            "metric": self.metric,
            "task": self.facts.kind,
            "n_records": self.n_records,
            "n_features": self.facts.n_features,
            "n_nonzero": self.facts.n_nonzero,
            "epsilon": self.facts.epsilon,
            "delta": self.facts.delta,
            "neighbors": self.facts.neighbors,
            "holdout": self.holdout,
            "ceiling": [self.ceiling.low, self.ceiling.high],
            "rate": self.facts.rate,
            "spread": self.facts.spread,
            "n_classes": self.facts.n_classes,
            "assumed": list(self.assumed),
            "null": self.null,
            "quality": self.quality.to_dict(),
            "hopeless": self.hopeless,
            "by_epsilon": [
                {"epsilon": epsilon, **band.to_dict()} for epsilon, band in self.by_epsilon
            ],
            "records_needed": [asdict(need) for need in self.needs],
            "features": asdict(self.features),
            "scores": asdict(self.scores),
            "price": {**asdict(self.price), "remains": self.price.remains},
            "n_tables": self.n_tables,
            "n_fits": self.n_fits,
            "from_public": self.from_public,
        }

    def __repr__(self) -> str:
        """A page of text."""
        return text_of(self)

    def _repr_html_(self) -> str:
        """The same with pictures, for notebooks."""
        return fragment(self)

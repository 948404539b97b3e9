"""Score a model privately, from beginning to end: predict, gate, charge, table, scores."""

import math
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from sparsedp.data.blocks.blocks import RecordBlocks
from sparsedp.data.dataset import Dataset
from sparsedp.data.gate import Invalid
from sparsedp.data.raw import RawColumn, RawTable
from sparsedp.evaluation.predictions import Predictions, ResponseMethod, predictions_of
from sparsedp.evaluation.record import exact_record, private_record
from sparsedp.evaluation.result import Evaluation, scored
from sparsedp.evaluation.roles import Roles
from sparsedp.evaluation.target import Model, declared_target, is_model
from sparsedp.fit.charge import charge, finish
from sparsedp.fit.settings import Seed, key_stream
from sparsedp.fit.solve import door
from sparsedp.fit.stopped import after_charge
from sparsedp.mechanisms import NoiselessCurator
from sparsedp.privacy import (
    NEIGHBORS,
    Budget,
    Ledger,
    Neighbors,
    PrivacyRecord,
    PublicFacts,
    Schedule,
    Tabulate,
)

METHODS = ("auto", "predict_proba", "decision_function", "predict")


def evaluate(
    model: Model,
    X: RawTable = None,
    y: RawColumn = None,
    *,
    epsilon: float,
    delta: float = 0.0,
    groups: RawColumn = None,
    sample_weight: RawColumn = None,
    ledger: Ledger | None = None,
    random_state: Seed | None = None,
    neighbors: Neighbors = "add_remove",
    classes: RawColumn = None,
    target_bounds: Iterable[float] | None = None,
    response_method: ResponseMethod = "auto",
    invalid: Invalid = "raise",
) -> Evaluation:
    """Private scores of a model on labeled records, each with a 95 % interval.

    Parameters
    ----------
    model : estimator, PublishedModel, or column of predictions
        Whatever has ``predict``, of any library; or one prediction per record, with ``X=None``.
    X : table
        The records, as the model takes them.
    y : column
        The truth; may be left out where the model's schema says which column of X holds it.
    epsilon : float
        What the scores cost, all together; infinite for exact scores, which are not private.
    delta : float, default=0.0
        Allowed, as for a fit; the noise is pure, so that nothing of it is spent or charged.
    groups : column, optional
        Whose each row is: all rows of a person count once. By default as the model's schema says.
    sample_weight : column, optional
        Weights of rows, in [0, 1].
    ledger : Ledger, optional
        Where the scores are charged: that of the records which are scored.
    random_state : int or generator, optional
        Makes noise reproducible, and the scores not private.
    neighbors : {"add_remove", "replace_one"}
        What the guarantee compares.
    classes : sequence, optional
        Labels; by default those of the model.
    target_bounds : pair of float, optional
        Limits of a numeric target; by default those of a model of this library. Predictions are
        clipped to them.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}
        What is scored. Of a column it says what it holds: probabilities of the second class (or of
        each class) by default, margins, or labels.
    invalid : {"raise", "replace"}
        Missing predictions and malformed targets raise, or become public values: the middle of
        the range, the first class.

    Returns
    -------
    Evaluation

    Notes
    -----
    *Privacy.* One table of counts is released, with pure differential privacy; everything else
    follows from it. Charged before noise is drawn. The guarantee is for these records; it assumes
    that the model is public (or private by itself: not fitted to these records without privacy)
    and that what it predicts for a record does not depend on other records.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsedp import evaluate
    >>> y = np.arange(4000) % 2
    >>> p = 0.2 + 0.6 * y
    >>> scores = evaluate(p, y=y, classes=[0, 1], epsilon=1.0, random_state=0)
    >>> bool(scores["accuracy"].lower > 0.98)
    True
    """
    asked = _Asked(epsilon, neighbors, ledger, random_state)
    asked.check(delta, response_method, invalid)
    if isinstance(X, RecordBlocks):
        raise ValueError("evaluate takes records in memory: read them as one table")
    target = declared_target(model, classes, target_bounds)
    roles = Roles.of(model, X, y, groups, sample_weight)
    found = predictions_of(model, X, target, response_method, invalid, empty=roles.empty)
    data = Dataset.clip(
        found.values,
        roles.y,
        found.bounds,
        classes=target.classes,
        target_bounds=target.bounds,
        invalid=invalid,
        groups=roles.groups,
        sample_weight=roles.sample_weight,
    )
    with closing(data):
        name = type(model).__name__ if is_model(model) else "a column of predictions"
        table, record = asked.released(found, data, target.declared(), name)
    return scored(found.design, found.method, table, record, target.classes)


@dataclass(frozen=True)
class _Asked:
    """The budget of an evaluation, checked before any record is looked at."""

    epsilon: float
    neighbors: Neighbors
    ledger: Ledger | None
    random_state: Seed | None

    def check(self, delta: float, response_method: str, invalid: str) -> None:
        """Raise for whatever is no setting; every error says what to write instead."""
        for name, value in (("epsilon", self.epsilon), ("delta", delta)):
            if isinstance(value, bool) or not isinstance(value, int | float | np.number):
                raise ValueError(f"{name} must be a number, got {value!r}")
        if not self.epsilon > 0:
            raise ValueError(f"epsilon must be a positive number, got {self.epsilon!r}")
        if not 0 <= delta < 1:
            raise ValueError(f"delta must be at least 0 and below 1, got {delta!r}")
        if self.neighbors not in NEIGHBORS:
            raise ValueError(f"neighbors must be one of {NEIGHBORS}, got {self.neighbors!r}")
        if self.ledger is not None and not isinstance(self.ledger, Ledger):
            raise ValueError(f"ledger must be a sparsedp.Ledger, got {self.ledger!r}")
        if self.ledger is not None and math.isinf(self.epsilon):
            raise ValueError("exact scores (infinite epsilon) cannot draw from a ledger")
        if response_method not in METHODS:
            raise ValueError(f"response_method must be one of {METHODS}, got {response_method!r}")
        if invalid not in ("raise", "replace"):
            raise ValueError(f'invalid must be "raise" or "replace", got {invalid!r}')

    def released(
        self, found: Predictions, data: Dataset, target: dict[str, object], name: str
    ) -> tuple[np.ndarray, PrivacyRecord]:
        """Charge, then let the table through the door."""
        public = PublicFacts(
            n_features=data.n_features,
            n_nonzero=1,
            neighbors=self.neighbors,
            unit=data.unit,
            weighting=data.weighting,
            rows_per_unit=1 if data.unit == "row" else None,
        )
        if math.isinf(self.epsilon):
            counts = found.design.counts(data)
            record = exact_record(public, found, target, name)
            return NoiselessCurator(public).table(counts), record
        schedule = Schedule((Tabulate(math.prod(found.design.shape)),))
        budget = Budget(schedule, epsilon=float(self.epsilon), delta=0.0, neighbors=self.neighbors)
        stream = key_stream(self.random_state)
        record = private_record(public, found, target, name, budget, seeded=stream.seeded)
        record = charge(self.ledger, record, data, what=f"scores of {name}")

        def through_the_door() -> np.ndarray:
            with door(budget, public, stream) as curator:
                counts = found.design.counts(data)  # private
                return curator.table(counts)  # released

        table = after_charge(through_the_door)
        finish(self.ledger, record, table)
        return table, record

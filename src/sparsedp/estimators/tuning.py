"""Try settings privately and keep the best, at a price that is known beforehand (tuning.md)."""

import math
import sys
import warnings
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sparsedp.estimators.fit import charge, privacy_record
from sparsedp.estimators.settings import Settings
from sparsedp.estimators.trial import Trial
from sparsedp.mechanisms import KeyStream
from sparsedp.mechanisms.trials import n_trials
from sparsedp.privacy import PrivacyRecord
from sparsedp.privacy.feasibility import TooFewRecords, records_needed, shortage
from sparsedp.privacy.repeat import SHAPES, events_at, single_rho, trial_rho


class PrivateSearchCV(MetaEstimatorMixin, BaseEstimator):
    """Search settings under one privacy budget, by repeat-and-select.

    A random number of trials is made; each takes one candidate at random, fits it on most of the
    records, and scores it, with noise, on the others. The best trial is published, the others and
    their number are not. (``GridSearchCV`` publishes every score, so every one of its fits is
    charged in full.)

    Parameters
    ----------
    estimator : SparseLogisticRegression or SparseLinearRegression
        What is fitted; its epsilon, delta, ledger and random_state are not used.
    param_grid : dict or list of dict
        Settings to try, as for ``GridSearchCV``: solvers, n_nonzero, ...
    epsilon, delta : float
        The budget of the whole search; required.
    expected_trials : float, optional
        Mean number of trials; by default twice the number of candidates.
    distribution : {"logarithmic", "geometric"}
        Of the number of trials. The logarithmic one is cheaper and more variable.
    validation_fraction : float
        Part of the records that score instead of training.
    ledger : Ledger, optional
        Charged once, before anything is drawn.
    random_state : optional
        As for the estimators: a seed stamps the result "not private".
    verbose : bool
        Print the price before the search starts.

    Attributes
    ----------
    best_estimator_ : estimator
        Fitted; its ``privacy_`` describes the whole search.
    best_params_ : dict
    best_score_ : float
        The noisy score of the best trial: a sum over validation records of one minus the Brier
        score (classes) or a squared error (released).
    privacy_ : PrivacyRecord

    Notes
    -----
    *Privacy.* Papernot and Steinke (2021): if one trial is rho-zCDP, its model and score together,
    then the best of a random number of trials has a Renyi divergence that grows only slowly with
    the mean number. Training and scoring use different records, so a trial costs the larger of the
    two. tuning.md has the details.
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        expected_trials: float | None = None,
        distribution: Literal["logarithmic", "geometric"] = "logarithmic",
        validation_fraction: float = 0.2,
        ledger: Any = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.epsilon = epsilon
        self.delta = delta
        self.expected_trials = expected_trials
        self.distribution = distribution
        self.validation_fraction = validation_fraction
        self.ledger = ledger
        self.random_state = random_state
        self.verbose = verbose

    def price(self) -> dict[str, float]:
        """What the search and a single trial cost; needs no data.

        ``noise_factor`` is how much more noise each trial has than one fit with the whole budget
        and the same (zCDP) accounting.
        """
        candidates = self._candidates()
        settings = Settings.of(candidates[0])
        trials = 2.0 * len(candidates) if self.expected_trials is None else self.expected_trials
        if not trials > 1:
            raise ValueError(f"expected_trials must be larger than 1, got {trials!r}")
        rho = trial_rho(settings.epsilon, settings.delta, float(trials), self.distribution)
        return {
            "epsilon": settings.epsilon,
            "delta": settings.delta,
            "expected_trials": float(trials),
            "rho_per_trial": rho,
            "noise_factor": math.sqrt(single_rho(settings.epsilon, settings.delta) / rho),
        }

    def fit(self, X: Any, y: Any) -> "PrivateSearchCV":
        """Search; the only method that sees private records."""
        if not 0 < self.validation_fraction < 1:
            raise ValueError(
                f"validation_fraction must be between 0 and 1, got {self.validation_fraction!r}"
            )
        candidates, price = self._candidates(), self.price()
        if self.verbose:
            sys.stderr.write(
                f"private search: {price['expected_trials']:g} trials expected, "
                f"epsilon={price['epsilon']:g}, delta={price['delta']:g} in all; "
                f"noise {price['noise_factor']:.2f} times that of a single fit\n"
            )
        settings = Settings.of(candidates[0])
        stream = settings.stream()
        # The same coins for every candidate: scores are compared on the same records.
        scoring = _coins(np.shape(X)[0], self.validation_fraction, stream)
        plans = [Trial.of(c, X, y, scoring, price["rho_per_trial"]) for c in candidates]
        event = {"name": "search", "event": "RepeatAndSelect", **price}
        event |= {"distribution": self.distribution, "n_candidates": len(plans)}
        self._warn_if_short(plans)
        charge(settings, self._record(plans[0], event, seeded=stream.seeded))
        trials = [
            (plan, *plan.run(stream))
            for plan in (
                plans[stream.integer_below(len(plans))]
                for _ in range(n_trials(price["expected_trials"], self.distribution, stream))
            )
        ]
        best, solution, score = max(trials, key=lambda trial: trial[2])
        record = self._record(best, event, seeded=stream.seeded)
        # Being the best of several may have changed what is likely about it.
        said = tuple(f"Of the best trial, taken by itself: {note}" for note in solution.notes)
        self.privacy_ = replace(record, notes=(*said, *record.notes))
        self.best_estimator_ = best.estimator._publish(solution, best.training, self.privacy_)
        chosen = best.estimator.get_params()
        names = sorted({name for params in ParameterGrid(self.param_grid) for name in params})
        self.best_params_ = {name: chosen[name] for name in names}
        self.best_score_ = score
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predictions of the best model."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    @available_if(lambda search: callable(getattr(search.estimator, "predict_proba", None)))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities of the best model."""
        check_is_fitted(self)
        return self.best_estimator_.predict_proba(X)

    @available_if(lambda search: callable(getattr(search.estimator, "decision_function", None)))
    def decision_function(self, X: Any) -> np.ndarray:
        """Margins of the best model."""
        check_is_fitted(self)
        return self.best_estimator_.decision_function(X)

    @property
    def classes_(self) -> np.ndarray:
        """Classes of the best model."""
        check_is_fitted(self)
        return self.best_estimator_.classes_

    def score(self, X: Any, y: Any) -> float:
        """Score of the best model on given data (exact, not private)."""
        check_is_fitted(self)
        return self.best_estimator_.score(X, y)

    def _candidates(self) -> list[Any]:
        if self.distribution not in SHAPES:
            raise ValueError(
                f"distribution must be one of {sorted(SHAPES)}, got {self.distribution!r}"
            )
        if self.epsilon is not None and math.isinf(self.epsilon):
            raise ValueError("a private search needs a finite epsilon")
        base = clone(self.estimator).set_params(
            epsilon=self.epsilon,
            delta=self.delta,
            ledger=self.ledger,
            random_state=self.random_state,
        )
        return [clone(base).set_params(**params) for params in ParameterGrid(self.param_grid)]

    def _needed(self, trial: Trial) -> int:
        """Records below which the noise of a trial promises nothing; only some of them train."""
        needed = records_needed(events_at(trial.schedule, trial.rho), trial.public)
        return math.ceil(needed / (1 - self.validation_fraction))

    def _warn_if_short(self, plans: list[Trial]) -> None:
        """Only where the number of records is public, and if no candidate needs fewer."""
        needed, trial = min(((self._needed(plan), plan) for plan in plans), key=lambda few: few[0])
        if trial.public.n_records is None:
            return
        n_records = trial.training.n_records + trial.validation.n_records
        if n_records < needed:
            warnings.warn(
                f"{shortage(needed, trial.public)} Here are {n_records}: use more records, a "
                "larger epsilon or fewer trials",
                TooFewRecords,
                stacklevel=3,
            )

    def _record(self, trial: Trial, event: dict[str, Any], *, seeded: bool) -> PrivacyRecord:
        record = privacy_record(
            trial.settings,
            trial.public,
            trial.training,
            trial.loss,
            trial.declared,
            None,
            seeded=seeded,
        )
        return replace(
            record,
            calibration="sound",
            proven_epsilon=trial.settings.epsilon,
            events=(event,),
            notes=(
                shortage(self._needed(trial), trial.public),
                *record.notes,
                "Settings were chosen privately, at the price shown as 'search'.",
            ),
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = self.estimator.__sklearn_tags__()
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.input_tags.sparse = inner.input_tags.sparse
        return tags


def _coins(n: int, fraction: float, stream: KeyStream) -> np.ndarray:
    """For every record by itself: whether it scores instead of training."""
    return stream.words(n) < np.uint64(int(fraction * 2.0**64))

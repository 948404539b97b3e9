"""Try settings privately and keep the best, at a price that is known beforehand (tuning.md)."""

import math
import sys
import warnings
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sparsedp.estimators.charge import charge, finish
from sparsedp.estimators.fit import privacy_record
from sparsedp.estimators.grid import Candidate, candidates
from sparsedp.estimators.stopped import after_charge
from sparsedp.estimators.trial import Problem, Trial
from sparsedp.mechanisms import KeyStream
from sparsedp.mechanisms.samplers.trials import n_trials
from sparsedp.privacy import PrivacyRecord
from sparsedp.privacy.account.feasibility import TooFewRecords, records_needed, shortage
from sparsedp.privacy.account.repeat import SHAPES, single_rho, trial_rho


class PrivateSearchCV(MetaEstimatorMixin, BaseEstimator):
    """Search settings under one privacy budget, by repeat-and-select.

    A random number of trials is made; each takes one candidate at random, fits it on most of the
    records, and scores it, with noise, on the others. The best trial is published, the others and
    their number are not. (``GridSearchCV`` publishes every score, so every one of its fits is
    charged in full.)

    Parameters
    ----------
    estimator : SparseLogisticRegression or SparseLinearRegression
        What is fitted; its epsilon, delta and random_state are not used, a ledger is refused.
    param_grid : dict or list of dict
        Settings to try, as for ``GridSearchCV``: solver, n_nonzero, bounds, fit_intercept and
        initial_model. Whatever sets the guarantee or the problem is refused.
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
        return self._price(self._candidates())

    def _price(self, tried: list[Candidate]) -> dict[str, float]:
        # The grid cannot change epsilon and delta, so any candidate's are those of the search.
        settings = tried[0].settings
        trials = 2.0 * len(tried) if self.expected_trials is None else self.expected_trials
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

    def fit(self, X: Any, y: Any = None) -> "PrivateSearchCV":
        """Search; the only method that sees private records.

        Parameters
        ----------
        X, y
            As for the estimator: arrays, data frames, or `RecordBlocks` without y.
        """
        if not 0 < self.validation_fraction < 1:
            raise ValueError(
                f"validation_fraction must be between 0 and 1, got {self.validation_fraction!r}"
            )
        tried = self._candidates()
        price = self._price(tried)
        if self.verbose:
            sys.stderr.write(
                f"private search: {price['expected_trials']:g} trials expected, "
                f"epsilon={price['epsilon']:g}, delta={price['delta']:g} in all; "
                f"noise {price['noise_factor']:.2f} times that of a single fit\n"
            )
        problems: list[Problem] = []
        try:
            for candidate in tried:
                problems.append(Problem.of(candidate, X, y))
            return self._search(tried, price, problems)
        finally:
            for problem in problems:
                problem.data.close()

    def _search(
        self, tried: list[Candidate], price: dict[str, float], problems: list[Problem]
    ) -> "PrivateSearchCV":
        stream = tried[0].settings.stream()
        # The same coins for every candidate: scores are compared on the same records.
        scoring = _coins(problems[0].data.n_records, self.validation_fraction, stream)
        plans = [Trial.of(problem, scoring, price["rho_per_trial"]) for problem in problems]
        # What is charged and written down: the dearest trial that can be drawn.
        event = {"name": "search", "event": "RepeatAndSelect", **price}
        event["rho_per_trial"] = max(plan.cost for plan in plans)
        event |= {"distribution": self.distribution, "n_candidates": len(plans)}
        self._warn_if_short(plans)
        charged = charge(
            tried[0].settings,
            self._record(plans[0], event, seeded=stream.seeded),
            problems[0].data,
        )
        trials = after_charge(
            lambda: [
                (plan, *plan.run(stream))
                for plan in (
                    plans[stream.integer_below(len(plans))]
                    for _ in range(n_trials(price["expected_trials"], self.distribution, stream))
                )
            ]
        )
        best, solution, score = max(trials, key=lambda trial: trial[2])
        record = self._record(best, event, seeded=stream.seeded)
        # Being the best of several may have changed what is likely about it.
        said = tuple(f"Of the best trial, taken by itself: {note}" for note in solution.notes)
        self.privacy_ = replace(record, notes=(*said, *record.notes), ledger=charged.ledger)
        finish(tried[0].settings, self.privacy_, solution.weights)
        self.best_estimator_ = best.problem.estimator._publish(
            solution, best.training, self.privacy_
        )
        chosen = best.problem.estimator.get_params(deep=False)
        names = sorted({name for candidate in tried for name in candidate.params})
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

    def _candidates(self) -> list[Candidate]:
        if self.distribution not in SHAPES:
            raise ValueError(
                f"distribution must be one of {sorted(SHAPES)}, got {self.distribution!r}"
            )
        if self.epsilon is not None and math.isinf(self.epsilon):
            raise ValueError("a private search needs a finite epsilon")
        return candidates(
            self.estimator,
            self.param_grid,
            epsilon=self.epsilon,
            delta=self.delta,
            ledger=self.ledger,
            random_state=self.random_state,
        )

    def _needed(self, trial: Trial) -> int:
        """Records below which the noise of a trial promises nothing; only some of them train."""
        needed = records_needed(trial.events, trial.public)
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
                stacklevel=4,
            )

    def _record(self, trial: Trial, event: dict[str, Any], *, seeded: bool) -> PrivacyRecord:
        record = privacy_record(
            trial.problem.settings,
            trial.public,
            trial.training,
            trial.problem.loss,
            trial.problem.declared,
            None,
            seeded=seeded,
        )
        return replace(
            record,
            calibration="sound",
            proven_epsilon=event["epsilon"],
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

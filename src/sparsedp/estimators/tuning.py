"""Try settings privately and keep the best, at a price known beforehand (fit/search/)."""

import math
import sys
from dataclasses import asdict

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sparsedp.estimators.border import Estimator, Features, Grid, Groups, Tags, Targets, Weights
from sparsedp.estimators.grid import Candidate, candidates
from sparsedp.estimators.records import Given
from sparsedp.fit.problem import Problem
from sparsedp.fit.search.search import Distribution, Price, private_search
from sparsedp.fit.settings import Seed
from sparsedp.privacy import Ledger
from sparsedp.privacy.account.repeat import SHAPES


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
        Settings to try, as for ``GridSearchCV``: solver, n_nonzero, shapes, monotone, bounds,
        fit_intercept and initial_model. Whatever sets the guarantee or the problem is refused.
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
    two. fit/search/search.md has the details.

    Examples
    --------
    >>> from sparsedp import PrivateSearchCV, SparseLogisticRegression
    >>> search = PrivateSearchCV(
    ...     SparseLogisticRegression(bounds=(-1, 1), classes=[0, 1]),
    ...     {"n_nonzero": [5, 20]},
    ...     epsilon=2.0,
    ...     delta=1e-6,
    ... )
    >>> search.price()["epsilon"]  # known before any record is seen
    2.0
    """

    def __init__(
        self,
        estimator: Estimator,
        param_grid: Grid,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        expected_trials: float | None = None,
        distribution: Distribution = "logarithmic",
        validation_fraction: float = 0.2,
        ledger: Ledger | None = None,
        random_state: Seed | None = None,
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
        return asdict(self._price(self._candidates()))

    def _price(self, tried: list[Candidate]) -> Price:
        trials = 2.0 * len(tried) if self.expected_trials is None else self.expected_trials
        # The grid cannot change epsilon and delta, so any candidate's are those of the search.
        return Price.of(tried[0].settings, trials, self.distribution)

    def fit(
        self,
        X: Features,
        y: Targets = None,
        groups: Groups | None = None,
        sample_weight: Weights | None = None,
    ) -> "PrivateSearchCV":
        """Search; the only method that sees private records.

        Parameters
        ----------
        X, y, groups, sample_weight
            As for the estimator: arrays, data frames, or `RecordBlocks` without y. All rows of a
            person train, or all score.
        """
        if not 0 < self.validation_fraction < 1:
            raise ValueError(
                f"validation_fraction must be between 0 and 1, got {self.validation_fraction!r}"
            )
        tried = self._candidates()
        price = self._price(tried)
        if self.verbose:
            sys.stderr.write(
                f"private search: {price.expected_trials:g} trials expected, "
                f"epsilon={price.epsilon:g}, delta={price.delta:g} in all; "
                f"noise {price.noise_factor:.2f} times that of a single fit\n"
            )
        given = Given(X, y, groups, sample_weight)
        problems: list[Problem] = []
        try:
            for candidate in tried:
                problems.append(candidate.estimator._problem(given, candidate.settings))
            settings = [candidate.settings for candidate in tried]
            found = private_search(
                list(zip(settings, problems, strict=True)),
                price,
                distribution=self.distribution,
                validation_fraction=self.validation_fraction,
            )
        finally:
            for problem in problems:
                problem.data.close()
        best = tried[found.candidate].estimator
        self.privacy_, self.best_score_ = found.record, found.score
        self.best_estimator_ = best._publish(found.coefficients, found.record)
        chosen = best.get_params(deep=False)
        names = sorted({name for candidate in tried for name in candidate.params})
        self.best_params_ = {name: chosen[name] for name in names}
        return self

    def predict(self, X: Features) -> np.ndarray:
        """Predictions of the best model."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    @available_if(lambda search: callable(getattr(search.estimator, "predict_proba", None)))
    def predict_proba(self, X: Features) -> np.ndarray:
        """Class probabilities of the best model."""
        check_is_fitted(self)
        return self.best_estimator_.predict_proba(X)

    @available_if(lambda search: callable(getattr(search.estimator, "decision_function", None)))
    def decision_function(self, X: Features) -> np.ndarray:
        """Margins of the best model."""
        check_is_fitted(self)
        return self.best_estimator_.decision_function(X)

    @property
    def classes_(self) -> np.ndarray:
        """Classes of the best model."""
        check_is_fitted(self)
        return self.best_estimator_.classes_

    def score(self, X: Features, y: Targets) -> float:
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

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = self.estimator.__sklearn_tags__()
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.input_tags.sparse = inner.input_tags.sparse
        return tags

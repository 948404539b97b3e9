"""Sparse Poisson regression with differential privacy."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import d2_tweedie_score
from sklearn.utils.validation import check_is_fitted

from sparsedp.data.bend import Shape
from sparsedp.data.gate import target_numbers
from sparsedp.data.linear_form import LinearForm
from sparsedp.data.schema import Schema
from sparsedp.estimators.border import Features, Groups, Tags, Targets, Weights
from sparsedp.estimators.fitted import (
    clipped_of,
    linear_form_of,
    margins_of,
    path_of,
    publish,
    tagged,
)
from sparsedp.estimators.pairs import plot_interactions
from sparsedp.estimators.path import ModelPath
from sparsedp.estimators.plots import plot_shapes
from sparsedp.estimators.raw import said_once, truth_of
from sparsedp.estimators.records import Given, Records
from sparsedp.estimators.shapes import one_shape, shapes_of
from sparsedp.evaluation.holdout import scored_fit
from sparsedp.evaluation.result import Evaluation
from sparsedp.fit.coefficients import Coefficients
from sparsedp.fit.parts import Holdout
from sparsedp.fit.problem import Problem
from sparsedp.fit.settings import BoundsLike, Seed, Settings
from sparsedp.fit.start import LinearModel
from sparsedp.fit.target import Counts
from sparsedp.losses import Poisson
from sparsedp.privacy import Ledger, PrivacyRecord
from sparsedp.solvers import Solver

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class SparsePoissonRegressor(RegressorMixin, BaseEstimator):
    """Poisson regression with hard zeros under (epsilon, delta)-differential privacy.

    For counts: visits, claims, events. The expected count is ``exp(X @ coef_ + intercept_)``, no
    more than the declared limit.

    Parameters
    ----------
    epsilon : float
        Privacy budget of this fit; required. ``float("inf")`` fits without privacy.
    delta : float
        Probability that the guarantee may fail; required. Far below one over the number of
        records.
    rho : float, optional
        Budget of zero-concentrated differential privacy in the place of epsilon, for solvers whose
        releases are all Gaussian (IGHT, NoisyGD); delta says at which epsilon it is told.
    bounds : Bounds, float or (lower, upper)
        Public limits of the features; required, or `schema` in its place. Values beyond them are
        clipped, at prediction too.
    schema : Schema, optional
        What raw data frames hold, in the place of `bounds`: ``fit`` and predictions then take raw
        tables, and the target, people and weights are taken from their columns.
    max_count : float
        Public limit of the counts; required. Larger counts are clipped, and so are predictions. The
        noise grows with it: take the largest count that matters, not the largest possible.
    offset_bounds : (float, float), optional
        Public limits of the ``offset`` given to ``fit``; values beyond are clipped.
    n_nonzero : int, optional
        Features to keep at most. By default the solver ``"pursuit"`` fits up to 320 features all
        at once and leaves out those that noise explains; of more, and with other solvers, ``1.5 *
        sqrt(n_features)`` are kept, at least 16.
    shapes : {"auto", "linear", "additive"}
        Whether the effect of a feature is a line, or piecewise linear (at the price of more noise);
        by default that is decided by public numbers and released counts, and so is whether pairs of
        features interact, unless effects are `monotone`. See ``shapes_`` and ``interactions_``.
    monotone : dict, optional
        Effects that shall only rise or only fall, as in ``{"age": "increasing"}``, by name or
        position of the feature. Made so from what was released, at no charge.
    solver : str or Solver
        A name or a solver object. Solvers that perturb an objective or screen by strong convexity
        (``objective_perturbation``, ``two_stage``, ``screened_frank_wolfe``) refuse counts.
    neighbors : {"add_remove", "replace_one"}
        Whether the guarantee compares tables with and without a record (the number of records is
        then private) or with a record changed (the number is then public).
    fit_intercept : bool
        Whether to fit a constant term; it does not count as a feature. Without it a record of
        features that are all zero has an expected count of one.
    initial_model : fitted log-linear model, optional
        Trained on public data (such as scikit-learn's ``PoissonRegressor``), to start from; for
        solvers that can use one.
    invalid : {"raise", "replace"}
        Malformed records raise an error that only the holder of the data sees, or are silently
        replaced by public values, at prediction too: a missing feature becomes the middle of its
        bounds (zero for sparse data and with a row norm), infinity the nearer bound, a missing
        count half the limit.
    holdout : float, optional
        Probability that a person (or row, without persons) is kept out of the fit, by a secret
        coin, for private scores of the model: see ``evaluation_``. Model and
        scores together cost the epsilon of the fit (more on a ledger of rule "union").
    ledger : Ledger, optional
        The budget that this fit is charged to, before any noise is drawn.
    random_state : optional
        Leave it None for cryptographic noise. A seed makes the fit reproducible and stamps the
        record "seeded": such a model is not private.
    verbose : bool
        Show progress on stderr.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : float
    privacy_ : PrivacyRecord
        What was released and what is guaranteed.
    evaluation_ : Evaluation
        With a `holdout`: private scores of the model, each with a 95 % interval.
    path_ : ModelPath
        The model at every number of features up to this one's.
    clip_bounds_ : (ndarray, ndarray)
        Features are clipped to these before prediction.
    shapes_ : dict
        The effect of each used feature, by name (or position), as a `Shape`: ``knots`` and
        ``values``, what is added to margins there compared with the lower limit. Where features
        interact it is the effect with all other features in the middle of their limits.
    bends_ : tuple of Bend
        What is added to ``X @ coef_ + intercept_`` where an effect is not a line; then ``coef_``
        has the slope from one end of the ``clip_bounds_`` to the other.
    interactions_ : tuple of Interaction
        What pairs of features add together: ``weights * u * v``, where u and v go from -1 at the
        lower to 1 at the upper of a feature's ``clip_bounds_``. Empty where effects only add up.
    clipped_ : dict
        Features of the model whose ``clip_bounds_`` are narrower than the declared bounds, by name
        (or position), with those limits. For records within them, and for all records if there are
        none, predictions are ``X @ coef_ + intercept_``, with ``bends_`` and ``interactions_``
        where there are any, to the power of e.
    linear_form_ : LinearForm
        ``coef``, ``intercept`` and ``largest_difference``: the plain linear model that is closest
        to this one, clipping, bends and interactions included, over all records within the
        declared bounds.
    n_features_in_, feature_names_in_
        As in scikit-learn: of raw tables, where there is a schema.
    coef_names_ : ndarray
        With a schema, the names of the columns of ``coef_``.

    Notes
    -----
    *Privacy.* Everything on a fitted estimator is part of the release and covered by the
    guarantee, provided that bounds, limit and settings were chosen without looking at the records.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsedp import SparsePoissonRegressor
    >>> random = np.random.default_rng(0)
    >>> X = random.uniform(-1, 1, size=(20_000, 5))
    >>> y = random.poisson(np.exp(1 + X[:, 0]))
    >>> model = SparsePoissonRegressor(
    ...     epsilon=1.0, delta=1e-6, bounds=(-1, 1), max_count=20, n_nonzero=1, random_state=0
    ... )
    >>> model.fit(X, y).coef_.nonzero()[0].tolist()
    [0]
    """

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        rho: float | None = None,
        bounds: BoundsLike | None = None,
        schema: Schema | None = None,
        max_count: float | None = None,
        offset_bounds: tuple[float, float] | None = None,
        n_nonzero: int | None = None,
        shapes: Literal["auto", "linear", "additive"] = "auto",
        monotone: Mapping[str | int, Literal["increasing", "decreasing"]] | None = None,
        solver: str | Solver = "pursuit",
        neighbors: Literal["add_remove", "replace_one"] = "add_remove",
        fit_intercept: bool = True,
        initial_model: LinearModel | None = None,
        invalid: Literal["raise", "replace"] = "raise",
        holdout: float | Holdout | None = None,
        ledger: Ledger | None = None,
        random_state: Seed | None = None,
        verbose: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.rho = rho
        self.bounds = bounds
        self.schema = schema
        self.max_count = max_count
        self.offset_bounds = offset_bounds
        self.n_nonzero = n_nonzero
        self.shapes = shapes
        self.monotone = monotone
        self.solver = solver
        self.neighbors = neighbors
        self.fit_intercept = fit_intercept
        self.initial_model = initial_model
        self.invalid = invalid
        self.holdout = holdout
        self.ledger = ledger
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Features,
        y: Targets = None,
        groups: Groups | None = None,
        sample_weight: Weights | None = None,
        offset: Weights | None = None,
    ) -> "SparsePoissonRegressor":
        """Fit the model; the only method that sees private records.

        Parameters
        ----------
        X : array, sparse array, data frame, Dask array or data frame, or RecordBlocks
            Features, one row per record; a `RecordBlocks` holds the targets too.
        y : array of shape (n,)
            Counts; to be left out with `RecordBlocks`.
        groups : array of shape (n,), optional
            The id of the person that each row belongs to, a whole number or a text: then persons
            are protected, each with all rows, and each counts once. Without it a row is protected,
            whoever else's rows belong to the same person.
        sample_weight : array of shape (n,), optional
            Which part of its ordinary weight each row has, between 0 and 1; more counts 1, so
            divide larger weights by a public constant. Weights that were computed from all records
            (such as their inverse frequencies) would not be private.
        offset : array of shape (n,), optional
            Known part of each record's margin, such as the logarithm of its exposure, clipped to
            ``offset_bounds``; no coefficient is fitted to it.
        """
        settings = Settings.of(self)
        given = Given(X, y, groups, sample_weight, offset, self.offset_bounds)
        return self._publish(*scored_fit(settings, self._problem(given, settings)))

    @property
    def path_(self) -> ModelPath:
        """The models with fewer features, at no further charge."""
        return path_of(self)

    @property
    def clipped_(self) -> dict[str | int, tuple[float, float]]:
        """Features whose values are clipped to less than their declared bounds, and to what."""
        return clipped_of(self)

    @property
    def shapes_(self) -> dict[str | int, Shape]:
        """The effect of each used feature, by name or position.

        Where features interact: with all others in the middle of their limits.
        """
        return shapes_of(self)

    def shape_(self, feature: str | int) -> Shape:
        """The effect of a feature, by name or position; flat if it has none of its own."""
        return one_shape(self, feature)

    def plot_shapes(
        self, features: Sequence[str | int] | None = None, *, most: int = 12
    ) -> "Figure":
        """Draw effects, the largest first (needs matplotlib).

        Each panel has a feature: what it adds to the margin, compared with its lower limit. Dotted
        lines mark the limits that predictions clip to; beyond them an effect is constant.

        Parameters
        ----------
        features : sequence of str or int, optional
            By name or position, in this order; by default the ones that the model uses.
        most : int
            Panels, where features are not given.
        """
        return plot_shapes(self, features, most=most, margin="log of the count", outputs=["count"])

    def plot_interactions(self, *, most: int = 6) -> "Figure":
        """Draw what pairs of features add together, the largest first (needs matplotlib).

        Each panel has two features, from limit to limit, and in colors what they add to the
        logarithm of the count beside the effect of each: nothing where one is in the middle of its
        limits.

        Parameters
        ----------
        most : int
            Panels.
        """
        return plot_interactions(self, most=most, margin="log of the count", outputs=["count"])

    @property
    def linear_form_(self) -> LinearForm:
        """The plain linear model closest to this one within the declared bounds."""
        return linear_form_of(self)

    def predict(self, X: Features, offset: Weights | None = None) -> np.ndarray:
        """Expected counts, at most the declared limit.

        An ``offset`` for each record is clipped to ``offset_bounds`` and added to the logarithm;
        without one it is zero (an exposure of 1).
        """
        margins = margins_of(self, X, offset)[:, 0]
        limit = self.privacy_.target["upper"]
        return np.exp(np.minimum(margins, np.log(limit)))

    def score(self, X: Features, y: Targets = None, sample_weight: Weights | None = None) -> float:
        """Part of the Poisson deviance that is explained (D2), on given records: not private."""
        check_is_fitted(self)
        limits = self.privacy_.target["lower"], self.privacy_.target["upper"]
        truth = target_numbers(truth_of(self, X, y), limits, self.invalid)
        return float(d2_tweedie_score(truth, self.predict(X), sample_weight=sample_weight, power=1))

    def _problem(self, given: Given, settings: Settings) -> Problem:
        """Let records through the gate; say what is minimized and what was declared."""
        target = None if self.schema is None else self.schema.target
        limit = None if target is None else target.max_count
        max_count = said_once(self.max_count, limit, "max_count")
        if max_count is None:
            raise ValueError(
                "max_count is required: a public limit of the counts, e.g. max_count=50, known "
                "without looking at the data; larger counts are clipped"
            )
        counts, loss = Counts(float(max_count)), Poisson(float(max_count))
        return Records.of(self, given).problem(settings, counts, loss)

    def _publish(
        self,
        released: Coefficients,
        record: PrivacyRecord,
        evaluation: Evaluation | None = None,
    ) -> "SparsePoissonRegressor":
        """Take over what was released, in declared units."""
        self.coef_, self.intercept_ = released.coef[0], float(released.intercept[0])
        publish(self, released, record, evaluation)
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = tagged(self, super().__sklearn_tags__())
        tags.target_tags.positive_only = True
        tags.regressor_tags.poor_score = True  # the noise drowns sets of a few hundred records
        return tags

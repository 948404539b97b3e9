"""Sparse logistic regression with differential privacy: two classes or more."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sparsedp.data.bend import Shape
from sparsedp.data.gate import vector
from sparsedp.data.gate.class_weight import class_codes, class_weights
from sparsedp.data.gate.labels import Labels, classes_in, declared_classes, label_array
from sparsedp.data.gate.units import ClassWeight
from sparsedp.data.linear_form import LinearForm
from sparsedp.data.schema import Schema
from sparsedp.estimators.border import Features, Groups, Tags, Targets, Weights
from sparsedp.estimators.fitted import (
    clipped_of,
    inference_of,
    linear_form_of,
    margins_of,
    path_of,
    publish,
    summary_of,
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
from sparsedp.fit.target import Classes
from sparsedp.inference.summary import Summary
from sparsedp.losses import Logistic, Multinomial
from sparsedp.privacy import Ledger, PrivacyRecord
from sparsedp.solvers import Solver

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class SparseLogisticRegression(ClassifierMixin, BaseEstimator):
    """Logistic regression with hard zeros under (epsilon, delta)-differential privacy.

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
    n_nonzero : int, optional
        Features to keep at most. By default the solver ``"pursuit"`` fits up to 320 features all
        at once and leaves out those that noise explains; of more it chooses ``3 *
        sqrt(n_features)``. Other solvers keep ``1.5 * sqrt(n_features)``, at least 16.
    shapes : {"auto", "linear", "additive"}
        Whether the effect of a feature is a line, or piecewise linear (at the price of more noise);
        by default that is decided by public numbers and released counts, and so is whether pairs of
        features interact, unless effects are `monotone`. See ``shapes_`` and ``interactions_``.
    monotone : dict, optional
        Effects that shall only rise or only fall, as in ``{"age": "increasing"}``, by name or
        position of the feature. Made so from what was released, at no charge. For two classes.
    intervals : bool, "same" or "split"
        Whether part of the budget pays for intervals of the coefficients; effects are then lines.
        With True all records estimate where all features are taken (up to 30 by default), else
        half of the persons, by secret coins, choose features for the others to estimate. See
        ``summary``.
    confidence : float
        How often an interval is to cover.
    solver : str or Solver
        A name or a solver object, such as ``FrankWolfe(radius=10, n_steps=1000)``.
    neighbors : {"add_remove", "replace_one"}
        Whether the guarantee compares tables with and without a record (the number of records is
        then private) or with a record changed (the number is then public).
    fit_intercept : bool
        Whether to fit a constant term; it does not count as a feature.
    classes : sequence, optional
        The label set. If it is not given it is taken from ``y``: then it is published with the
        model, and the record never says "private". Labels are compared by value, so that 1, 1.0,
        True and "1" are one label.
    class_weight : dict or sequence, optional
        Public weights of the classes, by label or in the order of ``classes``; what is left out of
        a dict counts 1. They decide how much each record counts, and ``predict`` multiplies
        probabilities by them. Their effect on log-odds is taken back from ``intercept_``, so that
        probabilities stay those of the records. Not "balanced", which reads class counts off the
        records.
    offset_bounds : (float, float), optional
        Public limits of the ``offset`` given to ``fit``; values beyond are clipped.
    initial_model : fitted linear model, optional
        Trained on public data, to start from; for solvers that can use one.
    invalid : {"raise", "replace"}
        Malformed records raise an error that only the holder of the data sees, or are silently
        replaced by public values, at prediction too: a missing feature becomes the middle of its
        bounds (zero for sparse data and with a row norm), infinity the nearer bound, a label that
        is missing or not declared the first class.
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
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    classes_ : ndarray
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
        where there are any, by way of the link.
    linear_form_ : LinearForm
        ``coef``, ``intercept`` and ``largest_difference``: the plain linear model that is closest
        to this one, clipping, bends and interactions included, over all records within the
        declared bounds.
    intervals_ : ndarray of shape (n_features, 2)
        With ``intervals``: lower and upper ends; NaN where noise drowns what is known about a
        coefficient, and for features that are not in the model.
    standard_errors_, p_values_ : ndarray of shape (n_features,)
        Likewise: of sampling and privacy noise together, and of the hypothesis of zero.
    covariance_ : ndarray
        Of the coefficients of ``inference_.features`` and the intercept, which is last.
    inference_ : Inference or None
        All of it in one object, with the intercept.
    n_features_in_, feature_names_in_
        As in scikit-learn: of raw tables, where there is a schema.
    coef_names_ : ndarray
        With a schema, the names of the columns of ``coef_``.

    Notes
    -----
    *Privacy.* Everything on a fitted estimator is part of the release and covered by the
    guarantee, provided that bounds, classes and settings were chosen without looking at the
    records.

    Examples
    --------
    >>> from sparsedp import SparseLogisticRegression
    >>> from sparsedp.data.synthetic import wang_zhang
    >>> made = wang_zhang(5_000, 20, seed=0)
    >>> model = SparseLogisticRegression(
    ...     epsilon=1.0, delta=1e-6, bounds=(-1, 1), classes=[0, 1], n_nonzero=5, random_state=0
    ... ).fit(made.X, made.y)
    >>> int((model.coef_ != 0).sum())
    5
    >>> model.privacy_.private  # a seed was given
    False
    """

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        rho: float | None = None,
        bounds: BoundsLike | None = None,
        schema: Schema | None = None,
        n_nonzero: int | None = None,
        shapes: Literal["auto", "linear", "additive"] = "auto",
        monotone: Mapping[str | int, Literal["increasing", "decreasing"]] | None = None,
        intervals: Literal["same", "split"] | bool = False,
        confidence: float = 0.95,
        solver: str | Solver = "pursuit",
        neighbors: Literal["add_remove", "replace_one"] = "add_remove",
        fit_intercept: bool = True,
        classes: Sequence[object] | np.ndarray | None = None,
        class_weight: ClassWeight | None = None,
        offset_bounds: tuple[float, float] | None = None,
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
        self.n_nonzero = n_nonzero
        self.shapes = shapes
        self.monotone = monotone
        self.intervals = intervals
        self.confidence = confidence
        self.solver = solver
        self.neighbors = neighbors
        self.fit_intercept = fit_intercept
        self.classes = classes
        self.class_weight = class_weight
        self.offset_bounds = offset_bounds
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
    ) -> "SparseLogisticRegression":
        """Fit the model; the only method that sees private records.

        Parameters
        ----------
        X : array, sparse array, data frame, Dask array or data frame, or RecordBlocks
            Features, one row per record; a `RecordBlocks` holds the targets too.
        y : array of shape (n,)
            Targets; to be left out with `RecordBlocks`.
        groups : array of shape (n,), optional
            The id of the person that each row belongs to, a whole number or a text: then persons
            are protected, each with all rows, and each counts once. Without it a row is protected,
            whoever else's rows belong to the same person.
        sample_weight : array of shape (n,), optional
            Which part of its ordinary weight each row has, between 0 and 1; more counts 1, so
            divide larger weights by a public constant. Weights that were computed from all records
            (such as their inverse frequencies) would not be private.
        offset : array of shape (n,), optional
            Known part of each record's log-odds, such as those of another, public model, clipped
            to ``offset_bounds``; no coefficient is fitted to it. Two classes only.
        """
        settings = Settings.of(self)
        given = Given(X, y, groups, sample_weight, offset, self.offset_bounds)
        return self._publish(*scored_fit(settings, self._problem(given, settings)))

    @property
    def intervals_(self) -> np.ndarray:
        """Ends of the intervals of all coefficients; NaN where there is none."""
        found = inference_of(self)
        return found.spread(found.table.intervals)

    @property
    def standard_errors_(self) -> np.ndarray:
        """Of sampling and privacy noise together; NaN where there is no interval."""
        found = inference_of(self)
        return found.spread(found.table.standard_errors)

    @property
    def p_values_(self) -> np.ndarray:
        """Of the hypothesis that a coefficient is zero; NaN where there is no interval."""
        found = inference_of(self)
        return found.spread(found.table.p_values)

    @property
    def covariance_(self) -> np.ndarray:
        """Of the coefficients of the model, and the intercept last."""
        return inference_of(self).covariance

    def summary(self) -> Summary:
        """The coefficients with their intervals, as a table; needs ``intervals``."""
        return summary_of(self, "Logistic regression, log-odds")

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
        check_is_fitted(self)
        two = len(self.classes_) == 2
        margin = f"log-odds of {self.classes_[1]}" if two else "score of a class"
        outputs = [str(label) for label in (self.classes_[1:] if two else self.classes_)]
        return plot_shapes(self, features, most=most, margin=margin, outputs=outputs)

    def plot_interactions(self, *, most: int = 6) -> "Figure":
        """Draw what pairs of features add together, the largest first (needs matplotlib).

        Each panel has two features, from limit to limit, and in colors what they add to the margin
        beside the effect of each: nothing where one is in the middle of its limits. Of more than
        two classes a panel has the one that is moved the most.

        Parameters
        ----------
        most : int
            Panels.
        """
        check_is_fitted(self)
        two = len(self.classes_) == 2
        margin = f"log-odds of {self.classes_[1]}" if two else "score of the class"
        outputs = [str(label) for label in (self.classes_[1:] if two else self.classes_)]
        return plot_interactions(self, most=most, margin=margin, outputs=outputs)

    @property
    def linear_form_(self) -> LinearForm:
        """The plain linear model closest to this one within the declared bounds."""
        return linear_form_of(self)

    def decision_function(self, X: Features, offset: Weights | None = None) -> np.ndarray:
        """Margins: shape (n,) for two classes, positive for the second; else (n, n_classes).

        An ``offset`` for each record is clipped to ``offset_bounds`` and added; without one it is
        zero.
        """
        margins = margins_of(self, X, offset)
        return margins[:, 0] if margins.shape[1] == 1 else margins

    def predict(self, X: Features, offset: Weights | None = None) -> np.ndarray:
        """The most probable class of each record; with class weights, the one of most weight.

        That is the class whose probability times class weight is largest.
        """
        codes = self._codes(self.decision_function(X, offset))
        return self.classes_[codes]

    def _codes(self, margins: np.ndarray) -> np.ndarray:
        return class_codes(margins, self.privacy_.target.get("class_weight"))

    def predict_proba(self, X: Features, offset: Weights | None = None) -> np.ndarray:
        """Probability of each class, columns in the order of ``classes_``."""
        margins = self.decision_function(X, offset)
        if margins.ndim == 1:
            return np.column_stack([expit(-margins), expit(margins)])
        return softmax(margins, axis=1)

    def predict_log_proba(self, X: Features, offset: Weights | None = None) -> np.ndarray:
        """Logarithm of :meth:`predict_proba`."""
        margins = self.decision_function(X, offset)
        if margins.ndim == 1:
            return np.column_stack([log_expit(-margins), log_expit(margins)])
        return log_softmax(margins, axis=1)

    def score(self, X: Features, y: Targets = None, sample_weight: Weights | None = None) -> float:
        """Accuracy on given records: exact, not private.

        Labels are matched as in ``fit``; with ``invalid="replace"`` one that is missing or not
        among the classes counts as the first class, otherwise as a wrong prediction.
        """
        codes = self._codes(self.decision_function(X))
        truth = Labels(self.classes_.tolist()).codes(vector(truth_of(self, X, y)))
        if self.invalid == "replace":
            truth = np.maximum(truth, 0)
        if len(truth) != len(codes):
            raise ValueError("X and y have different numbers of records: give one label per row.")
        return float(np.average(codes == truth, weights=sample_weight))

    def _declared_classes(self) -> object:
        target = None if self.schema is None else self.schema.target
        return said_once(self.classes, None if target is None else target.classes, "classes")

    def _problem(self, given: Given, settings: Settings) -> Problem:
        """Let records through the gate; say what is minimized and what was declared."""
        records = Records.of(self, given)
        said = self._declared_classes()
        if said is not None:
            classes = declared_classes(said)
        elif records.blocks is not None:
            raise ValueError(
                "records in blocks need declared classes, e.g. classes=(0, 1): they are not "
                "searched for labels"
            )
        else:
            classes = classes_in(records.y)
            if len(classes) < 2:
                raise ValueError(
                    "y has only one class, a classifier needs at least two: "
                    "give more data, or declare the label set by classes=..."
                )
        loss = Logistic() if len(classes) == 2 else Multinomial(len(classes))
        target = Classes(
            classes,
            from_data=said is None,
            class_weight=class_weights(self.class_weight, classes),
        )
        return records.problem(settings, target, loss)

    def _publish(
        self,
        released: Coefficients,
        record: PrivacyRecord,
        evaluation: Evaluation | None = None,
    ) -> "SparseLogisticRegression":
        """Take over what was released, in declared units."""
        self.coef_, self.intercept_ = released.coef, released.intercept
        self.classes_ = label_array(record.target["classes"])
        publish(self, released, record, evaluation)
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = tagged(self, super().__sklearn_tags__())
        # The noise may drown a set of a few hundred records; without noise no such excuse.
        tags.classifier_tags.poor_score = self.epsilon != float("inf")
        return tags

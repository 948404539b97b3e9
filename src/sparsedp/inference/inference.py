"""What a fit says about its coefficients, in declared units."""

from dataclasses import dataclass

import numpy as np

from sparsedp.inference.table import CoefficientTable
from sparsedp.solvers.uncertainty import Estimand, Uncertainty

MOST_WEAK = 0.5
"""A coefficient has no interval where more of its variance is of directions that are unknown."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Inference:
    """Coefficients of the features of a model, and the intercept last, with their covariance.

    Parameters
    ----------
    n_features : int
        Of the table.
    features : ndarray of shape (k,)
        Those of the model.
    table : CoefficientTable
        Estimates, standard errors and all that follows from them.
    covariance : ndarray of shape (k + 1, k + 1)
        Of these estimates; NaN where there is no interval.
    estimand : Estimand
        What they are estimates of.

    Privacy
    -------
    Computed from releases alone.
    """

    n_features: int
    features: np.ndarray
    table: CoefficientTable
    covariance: np.ndarray
    estimand: Estimand

    @classmethod
    def of(
        cls,
        known: Uncertainty,
        estimates: np.ndarray,
        back: np.ndarray,
        *,
        n_features: int,
        confidence: float,
    ) -> "Inference":
        """Carry what a solver knows to declared units.

        Parameters
        ----------
        known : Uncertainty
            In unit coordinates.
        estimates : ndarray of shape (k + 1,)
            In declared units.
        back : ndarray of shape (k + 1, k + 1)
            What carries weights from unit coordinates to declared units, but for a constant.
        n_features : int
        confidence : float
        """
        covariance, sampling, weak = (
            back @ part @ back.T for part in (known.covariance, known.sampling, known.weak)
        )
        variances = np.diag(covariance)
        # Written so that what is not a number is refused.
        shown = (np.diag(weak) <= MOST_WEAK * variances) & (variances > 0) & np.isfinite(variances)
        shown &= ~known.moving
        errors = np.sqrt(np.where(shown, variances, np.nan))
        noise = np.clip(1 - np.diag(sampling) / np.where(shown, variances, np.nan), 0.0, 1.0)
        table = CoefficientTable(
            estimates=estimates,
            standard_errors=errors,
            noise_shares=noise,
            confidence=confidence,
            method=known.method,
        )
        hidden = ~(shown[:, None] & shown[None, :])
        return cls(
            n_features=n_features,
            features=known.features,
            table=table,
            covariance=np.where(hidden, np.nan, covariance),
            estimand=known.estimand,
        )

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Values of the features of the model among all features; NaN for the others."""
        found = np.full((self.n_features, *values.shape[1:]), np.nan)
        found[self.features] = values[: len(self.features)]
        return found

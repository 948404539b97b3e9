"""Coefficients with their errors: intervals, p-values and what may be called non-zero."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import ndtr, ndtri

FALSE_SHARE = 0.10
"""Of the coefficients that are called non-zero, at most so many are not, on average."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CoefficientTable:
    """Estimates with standard errors; NaN where there is no interval.

    Parameters
    ----------
    estimates : ndarray of shape (m,)
        Coefficients of the features of a model, and the intercept last.
    standard_errors : ndarray of shape (m,)
        Of sampling and privacy noise together; NaN where noise drowns what is known.
    noise_shares : ndarray of shape (m,)
        Part of the interval's squared width that is privacy noise; NaN likewise.
    confidence : float
        How often an interval is to cover.
    method : {"same", "split"}
        Whether the records that a model was started on also say how well it is known.

    Privacy
    -------
    Computed from releases alone.
    """

    estimates: np.ndarray
    standard_errors: np.ndarray
    noise_shares: np.ndarray
    confidence: float
    method: Literal["same", "split"]

    @property
    def intervals(self) -> np.ndarray:
        """Lower and upper ends, of shape (m, 2); NaN where there is no interval."""
        half = ndtri((1 + self.confidence) / 2) * self.standard_errors
        return np.column_stack([self.estimates - half, self.estimates + half])

    @property
    def p_values(self) -> np.ndarray:
        """Of the hypothesis that a coefficient is zero in the population; NaN without interval."""
        return 2 * ndtr(-np.abs(self.estimates) / self.standard_errors)

    @property
    def sign_certainty(self) -> np.ndarray:
        """One minus the one-sided p-value: how sure the sign is."""
        return 1 - self.p_values / 2

    @property
    def nonzero(self) -> np.ndarray:
        """Features that may be called non-zero in this model, by Benjamini and Hochberg (1995).

        What has no interval counts as if its p-value were 1. Of shape (m - 1,): the intercept is
        not asked.
        """
        p = np.nan_to_num(self.p_values[:-1], nan=1.0)
        order = np.argsort(p, kind="stable")
        limits = FALSE_SHARE * np.arange(1, len(p) + 1) / max(len(p), 1)
        passed = np.flatnonzero(p[order] <= limits)
        found = np.zeros(len(p), dtype=bool)
        if passed.size:
            found[order[: passed[-1] + 1]] = True
        return found

    def sentence(self, names: list[str]) -> str:
        """Which features are non-zero in this model, in plain words."""
        found = [name for name, some in zip(names, self.nonzero, strict=True) if some]
        refused = int(np.isnan(self.standard_errors[:-1]).sum())
        share = f"{100 * FALSE_SHARE:g} %"
        if found:
            said = (
                f"Non-zero in this model: {', '.join(found)}. Of such claims at most {share} are "
                "wrong on average."
            )
        else:
            said = f"No coefficient can be told from zero (at most {share} of such claims wrong)."
        if refused == 0:
            return said
        what = "1 coefficient has" if refused == 1 else f"{refused} coefficients have"
        return f"{said} {what} no interval: noise drowns what is known about them."


def is_confidence(value: object) -> bool:
    """Whether this can be how often an interval is to cover."""
    if not isinstance(value, int | float | np.number) or isinstance(value, bool):
        return False
    return bool(0.5 <= value < 1) and math.isfinite(ndtri((1 + float(value)) / 2))

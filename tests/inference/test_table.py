"""What follows from estimates and standard errors alone."""

import numpy as np
import pytest

from sparsedp.inference import CoefficientTable


def table(z, refused=()):
    errors = np.full(len(z) + 1, 2.0)
    errors[list(refused)] = np.nan
    estimates = np.append(2.0 * np.asarray(z), 1.0)
    return CoefficientTable(
        estimates=estimates,
        standard_errors=errors,
        noise_shares=np.where(np.isnan(errors), np.nan, 0.5),
        confidence=0.95,
        method="same",
    )


def test_p_values_and_signs():
    found = table([1.959964, -3.290527, 0.0])
    np.testing.assert_allclose(found.p_values[:3], [0.05, 0.001, 1.0], rtol=1e-5)
    np.testing.assert_allclose(found.sign_certainty[:3], [0.975, 0.9995, 0.5], rtol=1e-6)
    np.testing.assert_allclose(found.intervals[0], [0.0, 2 * 2 * 1.959964], atol=1e-5)


def test_benjamini_and_hochberg():
    # p-values .005, .0455, .0719, .0801, .3173 of five: limits .02, .04, .06, .08, .1.
    found = table([2.81, 2.0, 1.8, 1.75, 1.0])
    np.testing.assert_array_equal(found.nonzero, [True, False, False, False, False])
    # One more below its limit takes all before it along.
    found = table([2.81, 2.0, 1.9, 1.76, 1.0])
    np.testing.assert_array_equal(found.nonzero, [True, True, True, True, False])


def test_what_is_refused_counts_as_if_its_p_value_were_one():
    z = [2.4, 2.4, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0]
    assert table(z).nonzero.all()
    hidden = table(z, refused=range(2, 10))
    np.testing.assert_array_equal(hidden.nonzero, [True, True] + 8 * [False])
    assert not table(z[:1] + z[2:], refused=range(1, 9)).nonzero.any()
    assert "8 coefficients have no interval" in hidden.sentence([f"x{j}" for j in range(10)])


@pytest.mark.parametrize("n", [0, 1])
def test_models_of_few_features(n):
    found = table([5.0] * n)
    assert found.nonzero.sum() == n
    assert ("x0" in found.sentence(["x0"][:n])) is bool(n)

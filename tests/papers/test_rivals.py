"""Rivals that we wrote have the noise that their guarantee asks for; the page counts rightly."""

import csv

import numpy as np
import pytest
from benchmarks.rivals import metrics, sets, ssp
from benchmarks.rivals.categories import blocks, joined
from benchmarks.rivals.page import page
from benchmarks.rivals.results import cells, read
from benchmarks.rivals.rows import unit_rows, unit_target
from benchmarks.rivals.run import FIELDS
from scipy.stats import norm


def a_table(n=60, d=4, target_bounds=None):
    rng = np.random.default_rng(1)
    lower, upper = np.array([0.0, -3, 1, 0]), np.array([2.0, 5, 4, 1])
    X = rng.uniform(lower - 1, upper + 1, size=(n, d))
    y = rng.normal(size=n) if target_bounds else rng.integers(0, 2, size=n)
    return sets.Table("made", X, y, lower, upper, target_bounds, None)


@pytest.mark.parametrize("epsilon", [0.1, 1, 8])
@pytest.mark.parametrize("rounds", [1, 100])
def test_releases_of_ada_ssp_spend_the_budget_and_no_more(epsilon, rounds):
    """Each of rounds + 2 releases has sensitivity 1, so their mu add up in squares."""
    mu = np.sqrt(rounds + 2) / ssp.noise(epsilon, 1e-6, rounds)
    delta = norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    assert 0.999e-6 < delta <= 1e-6


def test_rows_and_targets_are_within_what_the_noise_is_made_for():
    made = a_table(target_bounds=(-0.5, 0.5))
    part = sets.split(made, 0)
    assert np.linalg.norm(np.asarray(unit_rows(made, made.X)), axis=1) == pytest.approx(1)
    y, back = unit_target(part)
    assert np.abs(y).max() == 1  # beyond their bounds
    assert back(y) == pytest.approx(np.clip(part.y, -0.5, 0.5))
    assert np.abs(back(np.array([-9.0, 9]))).max() == 0.5


def test_a_record_moves_no_release_of_ada_ssp_by_more_than_one():
    """And the last two by one at some corner: less noise would not do."""
    rng = np.random.default_rng(2)
    moved = []
    for trial in range(200):
        Z = rng.normal(size=(trial % 7, 3))
        Z /= np.linalg.norm(Z, axis=1, keepdims=True)
        z = np.eye(3)[trial % 3] if trial % 2 else rng.normal(size=3)
        z /= np.linalg.norm(z)
        more = np.vstack([Z, z])
        before, after = Z.T @ Z, more.T @ more
        moved.append(
            (
                abs(np.linalg.eigvalsh(after)[0] - np.linalg.eigvalsh(before)[0]),
                np.linalg.norm(np.triu(after - before)),
                np.linalg.norm(z * np.clip(rng.normal() * 9, -1, 1)),
            )
        )
    assert np.max(moved) <= 1 + 1e-12
    assert np.max(moved, axis=0)[1:] == pytest.approx(1)


def test_noise_of_the_gram_matrix_is_symmetric_and_as_large_as_declared():
    """80,200 normal variables, seed 3: the interval is missed once in 5e6."""
    gram = np.zeros((400, 400))
    noisy = ssp.perturbed(gram, 2.5, np.random.default_rng(3))
    assert np.array_equal(noisy, noisy.T)
    entries = noisy[np.triu_indices(400)]
    assert abs(entries.std() / 2.5 - 1) < 5.2 / np.sqrt(2 * len(entries))
    assert abs(entries.mean()) < 5.2 * 2.5 / np.sqrt(len(entries))


def test_without_noise_boosting_tends_to_least_squares():
    rng = np.random.default_rng(4)
    Z = rng.normal(size=(500, 3))
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    w = np.array([0.3, -0.2, 0.1])
    found = ssp.ada_ssp(Z, Z @ w, epsilon=1e6, delta=1e-6, rng=rng, rounds=50)
    assert found == pytest.approx(w, abs=0.01)


def test_splits_depend_on_set_and_run_alone():
    made = a_table()
    first, again, other = (sets.split(made, run) for run in (0, 0, 1))
    assert np.array_equal(first.X, again.X)
    assert not np.array_equal(first.X, other.X)
    assert len(first.y) == 48
    assert len(first.y_test) == 12
    both = np.vstack([np.asarray(part) for part in (first.X, first.X_test)])
    assert np.array_equal(np.sort(both, axis=0), np.sort(np.asarray(made.X), axis=0))


def test_bounds_are_rounded_outwards():
    low, high = sets.outwards(np.array([17.0, 0, -0.3, 5]), np.array([90.0, 1, 0.32, 5]))
    assert low == pytest.approx([15, 0, -0.3, 5])
    assert high == pytest.approx([90, 1, 0.35, 6])


def test_categories_are_put_together_from_their_indicators():
    codes = np.array([0, 2, 1, 2, 0])
    X = np.column_stack([[3.0, 1, 4, 1, 5], np.eye(3)[codes], [1, 0, 1, 1, 0]])
    assert blocks(X) == [range(1, 4)]
    assert np.array_equal(joined(X, blocks(X)), np.column_stack([X[:, [0, 4]], codes]))


def test_calibration_error_of_bins_of_equal_mass():
    y = np.tile([0, 1, 1, 1], 50)
    assert metrics.calibration_error(y, np.full(200, 0.75)) == pytest.approx(0)
    assert metrics.calibration_error(y, np.full(200, 0.5)) == pytest.approx(0.25)
    halves = np.repeat([0.6, 0.9], 100)
    assert metrics.calibration_error(y, halves) == pytest.approx(0.15)


def written(path):
    """Ours loses clearly on one of two sets, and only there; EBM failed on one."""
    common = {"commit": "abc", "n": 9000, "d": 5, "delta": 1e-6, "seconds": 0.1}
    common |= {"log_loss": 0.4, "null_log_loss": 0.5, "ece": 0.01, "predicted": 0.2}
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, restval="")
        writer.writeheader()
        for run in range(4):
            for method, german, adult in (("ours", 0.70, 0.9), ("adassp", 0.72, 0.8)):
                for name, auc in (("german", german), ("adult", adult)):
                    line = {"set": name, "method": method, "epsilon": 1, "run": run}
                    line |= {"auc": auc + run / 100, "base_rate": 0.2}
                    writer.writerow(common | line)
        failed = {"set": "german", "method": "dp_ebm", "epsilon": 1, "run": 0, "commit": "abc"}
        writer.writerow(failed | {"n": 9000, "d": 5, "seconds": 1})


def test_the_page_says_where_we_lose(tmp_path):
    written(tmp_path / "fits.csv")
    results = read([tmp_path / "fits.csv"])
    german, adult = cells(results, "auc", "ours", "adassp", ["german", "adult"])
    assert german.difference == pytest.approx(-0.02)
    assert german.is_clear
    assert adult.difference == pytest.approx(0.1)
    text = "\n".join(page(results, "ours"))
    assert "| AdaSSP | - | - | +0.040 (1/1/2) | - | - | 1/1/2 |" in text
    assert "| german | 1 | AdaSSP | 0.715 | 0.735 | -0.020 | 0.000 |" in text
    assert "| adult | 1 | AdaSSP" not in text
    assert "- DP-EBM: german" in text

"""Rivals that we wrote have the noise that their guarantee asks for; the page counts rightly."""

import csv

import numpy as np
import pytest
from benchmarks.rivals import metrics, sets
from benchmarks.rivals.categories import blocks, joined
from benchmarks.rivals.page import page
from benchmarks.rivals.results import cells, read
from benchmarks.rivals.rows import unit_rows, unit_target
from benchmarks.rivals.run import FIELDS


def a_table(n=60, d=4, target_bounds=None):
    rng = np.random.default_rng(1)
    lower, upper = np.array([0.0, -3, 1, 0]), np.array([2.0, 5, 4, 1])
    X = rng.uniform(lower - 1, upper + 1, size=(n, d))
    y = rng.normal(size=n) if target_bounds else rng.integers(0, 2, size=n)
    return sets.Table("made", X, y, lower, upper, target_bounds, None)


def test_rows_and_targets_are_within_what_the_noise_is_made_for():
    made = a_table(target_bounds=(-0.5, 0.5))
    part = sets.split(made, 0)
    assert np.linalg.norm(np.asarray(unit_rows(made, made.X)), axis=1) == pytest.approx(1)
    y, back = unit_target(part)
    assert np.abs(y).max() == 1  # beyond their bounds
    assert back(y) == pytest.approx(np.clip(part.y, -0.5, 0.5))
    assert np.abs(back(np.array([-9.0, 9]))).max() == 0.5


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

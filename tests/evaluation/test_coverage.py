"""Do intervals cover? In short; benchmarks/evaluation.md has real data sets and 1,000 draws."""

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import log_loss, r2_score, roc_auc_score

from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.evaluation.binary import EDGES, Binary
from sparsedp.evaluation.multiclass import Multiclass
from sparsedp.evaluation.regression import Regression

DRAWS = 300
LEAST = stats.binom.ppf(1e-7, DRAWS, 0.93) / DRAWS
"""Whoever covers in 93 of 100 is below this once in ten million; seeds are fixed besides."""

POPULATION = 40_000


def population(task):
    """A large table of (predictions, truth), the exact score of it, and how it is tabulated."""
    random = np.random.default_rng(5)
    x = random.normal(size=POPULATION)
    if task == "binary":
        y = (random.logistic(size=POPULATION) < 1.5 * x - 1).astype(int)
        p = 1 / (1 + np.exp(1 - 1.5 * x))
        truth = {"AUC": roc_auc_score(y, p), "log loss": log_loss(y, p)}
        truth["accuracy"] = np.mean((p > 0.5) == y)
        how = {"bounds": Bounds(0, 1), "classes": (0, 1)}
        return p[:, None], y, truth, Binary(np.tanh(EDGES / 2)), how
    if task == "several":
        y = np.digitize(x + random.normal(size=POPULATION), [-1, 1])
        p = np.stack([np.exp(-np.abs(x - c)) for c in (-1.5, 0, 1.5)], 1)
        p /= p.sum(axis=1, keepdims=True)
        truth = {"accuracy": np.mean(p.argmax(axis=1) == y)}
        how = {"bounds": Bounds(0, 1), "classes": (0, 1, 2)}
        return p, y, truth, Multiclass.of(3, labels=False), how
    y = np.clip(0.3 * x + 0.15 * random.normal(size=POPULATION), -1, 1)
    p = np.clip(0.3 * x, -1, 1)
    truth = {"R2": r2_score(y, p), "MAE": np.abs(y - p).mean()}
    truth["RMSE"] = math.sqrt(np.mean((y - p) ** 2))
    return (
        p[:, None],
        y,
        truth,
        Regression(1.0),
        {"bounds": Bounds(-1, 1), "target_bounds": (-1, 1)},
    )


@pytest.mark.parametrize("task", ["binary", "several", "numbers"])
@pytest.mark.parametrize(("epsilon", "moved"), [(0.5, 1), (3.0, 2), (8.0, 1)])
def test_intervals_cover_sampling_and_noise(task, epsilon, moved):
    # The noise of the door is Laplace noise in all digits that matter here (tests/mechanisms).
    p, y, truth, design, how = population(task)
    random = np.random.default_rng([9, moved])
    scale = moved / epsilon
    found = {name: [] for name in truth}
    for _ in range(DRAWS):
        rows = random.integers(0, POPULATION, 3000)
        counts = design.counts(Dataset.clip(p[rows], y[rows], **how)) / 2**30
        table = counts + random.laplace(0, scale, counts.shape)
        scores = design.found(table, 2 * scale**2).scores
        for name in truth:
            found[name].append(scores[name])
    for name, exact in truth.items():
        covered = np.mean([score.lower <= exact <= score.upper for score in found[name]])
        assert covered >= LEAST, (name, covered)
        half = np.median([(score.upper - score.lower) / 2 for score in found[name]])
        values = np.array([score.value for score in found[name]])
        # Nor are they too wide: 300 draws know a standard deviation to 4 %, 7 sigma are 30 %.
        assert half / 1.96 < 1.3 * values.std(), name
        # Bias: a quarter of the half-width, and 6 standard errors of a mean of 300.
        assert abs(values.mean() - exact) < half / 4 + 6 * values.std() / math.sqrt(DRAWS), name


def test_persons_of_many_rows_are_covered():
    """The spread between persons counts, not that between rows."""
    p, y, truth, design, how = population("binary")
    random = np.random.default_rng(13)
    covered = []
    order = np.argsort(p[:, 0] + random.normal(0, 0.2, POPULATION), kind="stable")
    persons = order.reshape(-1, 5)  # rows of a person are much alike
    for _ in range(DRAWS):
        drawn = random.integers(0, len(persons), 800)
        rows, groups = persons[drawn].ravel(), np.repeat(np.arange(800), 5)
        counts = design.counts(Dataset.clip(p[rows], y[rows], groups=groups, **how)) / 2**30
        assert counts.sum() == 800
        table = counts + random.laplace(0, 1.0, counts.shape)
        score = design.found(table, 2.0).scores["accuracy"]
        covered.append(score.lower <= truth["accuracy"] <= score.upper)
    assert np.mean(covered) >= LEAST

"""Do the intervals of private scores cover? Drawn from real data sets, for every kind of target.

    python benchmarks/evaluation.py --data DIR [--draws 1000] [--sets adult,california]
        [--neighbors replace_one] [--seed 0]

DIR holds the data sets and their load.py. A model without privacy is fitted to half of a set; the
other half is the population. Each draw takes n records of it, with replacement, and evaluates
privately; what has to be covered is the exact score of the whole population, without bins. Prints
the table of benchmarks/evaluation.md.
"""

import argparse
import sys
import time
import warnings
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    brier_score_loss,
    log_loss,
    mean_absolute_error,
    r2_score,
    roc_auc_score,
    root_mean_squared_error,
)
from sklearn.preprocessing import StandardScaler

from sparsedp import evaluate

BINARY = ("adult", "phishing", "covtype", "w8a")
NUMBERS = ("california", "abalone", "cpusmall", "puma32h")
SEVERAL = ("covtype7", "satimage", "dna", "usps")
SETTINGS = tuple(product((2000, 8000), (0.3, 1.0, 3.0, 8.0)))
"""Records in a draw, epsilon."""

Population = tuple[np.ndarray, np.ndarray, dict]
"""Predictions, truth, and what is declared."""


@dataclass
class Tally:
    """How often the interval of a score covered, and what else is to be known of it."""

    truth: float
    covered: int = 0
    refused: int = 0
    errors: list | None = None
    widths: list | None = None

    def add(self, found, name: str) -> None:
        """Take in one evaluation."""
        if self.errors is None or self.widths is None:
            self.errors, self.widths = [], []
        if name not in found.scores:
            self.refused += 1
            return
        score = found[name]
        self.covered += score.lower <= self.truth <= score.upper
        self.errors.append(score.value - self.truth)
        self.widths.append((score.upper - score.lower) / 2)

    def line(self) -> str:
        """Coverage, bias over half-width, half-width, refusals."""
        if not self.errors:
            return f"- | - | - | {self.refused}"
        half = float(np.median(self.widths))
        return (
            f"{self.covered / len(self.errors):.3f} | {np.mean(self.errors) / half:+.2f} | "
            f"{half:.3g} | {self.refused}"
        )


def population(name: str, load) -> Population:
    """Predictions for the half that the model was not fitted to."""
    split = {"split": "all"} if name in ("adult", "w8a", "satimage") else {}
    X, y = load(name, **split)
    order = np.random.default_rng(0).permutation(len(y))[:120_000]
    X, y = X[order], np.asarray(y)[order]
    X = StandardScaler(with_mean=not sparse.issparse(X)).fit_transform(X)
    half = len(y) // 2
    if name in NUMBERS:
        limits = float(y.min()), float(y.max())
        predicted = np.clip(Ridge().fit(X[:half], y[:half]).predict(X[half:]), *limits)
        return predicted, y[half:], {"target_bounds": limits}
    y = y.astype(int)
    model = LogisticRegression(max_iter=300).fit(X[:half], y[:half])
    return model.predict_proba(X[half:]), y[half:], {"classes": model.classes_.tolist()}


def truths(name: str, predicted: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Exact scores of the population."""
    if name in NUMBERS:
        return {
            "R2": r2_score(y, predicted),
            "RMSE": root_mean_squared_error(y, predicted),
            "MAE": mean_absolute_error(y, predicted),
        }
    labels = np.unique(y)[predicted.argmax(axis=1)]
    if name in SEVERAL:
        return {
            "accuracy": accuracy_score(y, labels),
            "balanced accuracy": balanced_accuracy_score(y, labels),
        }
    p = predicted[:, 1]
    area = roc_auc_score(y, p)
    p = np.clip(p, *expit([-4, 4]))  # scores of probabilities are defined so: evaluation.md
    return {
        "AUC": area,
        "accuracy": accuracy_score(y, labels),
        "log loss": log_loss(y, p),
        "Brier score": brier_score_loss(y, p),
    }


def run(name: str, load, draws: int, neighbors: str, seed: int) -> None:
    """All settings of one set."""
    predicted, y, declared = population(name, load)
    exact = truths(name, predicted, y)
    for n, epsilon in SETTINGS:
        random = np.random.default_rng([seed, n, round(10 * epsilon)])
        tallies = {score: Tally(truth) for score, truth in exact.items()}
        for _ in range(draws):
            rows = random.integers(0, len(y), n)
            found = evaluate(
                predicted[rows],
                y=y[rows],
                epsilon=epsilon,
                neighbors=neighbors,
                random_state=random,
                **declared,
            )
            for score, tally in tallies.items():
                tally.add(found, score)
        for score, tally in tallies.items():
            line = f"| {name} | {score} | {tally.truth:.4g} | {n} | {epsilon:g} | {tally.line()} |"
            print(line, flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--sets", default=",".join((*BINARY, *NUMBERS, *SEVERAL)))
    parser.add_argument("--neighbors", default="add_remove")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    sys.path.insert(0, str(asked.data))
    from load import load

    warnings.simplefilter("ignore")
    print("| set | score | exact | n | epsilon | coverage ", end="")
    print("| bias / half-width | half-width | refused |\n" + "|---" * 9 + "|")
    for name in asked.sets.split(","):
        started = time.monotonic()
        run(name, load, asked.draws, asked.neighbors, asked.seed)
        print(f"{name}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()

"""What is written down of a fit."""

import numpy as np
from sklearn.metrics import roc_auc_score

NAMES = ("auc", "log_loss", "null_log_loss", "ece", "predicted", "base_rate", "r2", "rmse")


def log_loss(y, probability):
    """Mean log loss, with probabilities in [1e-6, 1 - 1e-6]."""
    p = np.clip(probability, 1e-6, 1 - 1e-6)
    return float(-np.mean(y * np.log(p) + (1 - y) * np.log1p(-p)))


def calibration_error(y, probability, bins=10):
    """Expected calibration error in bins of equal mass; equal predictions share a bin."""
    edges = np.unique(np.quantile(probability, np.linspace(0, 1, bins + 1)))
    bin_of = np.searchsorted(edges[1:-1], probability, side="right")
    gaps = np.bincount(bin_of, weights=probability - y)
    return float(np.abs(gaps).sum() / len(y))


def of_classifier(part, score, probability):
    """Metrics on the test part; the null model predicts the rate of the training part."""
    y = part.y_test
    both = 0 < y.mean() < 1
    return {
        "auc": float(roc_auc_score(y, score)) if both else np.nan,
        "log_loss": log_loss(y, probability),
        "null_log_loss": log_loss(y, np.full(len(y), part.y.mean())),
        "ece": calibration_error(y, probability),
        "predicted": float(np.mean(probability)),
        "base_rate": float(y.mean()),
    }


def of_regression(part, prediction):
    """R2 and root mean squared error on the test part."""
    y = part.y_test
    squared = float(np.mean((y - prediction) ** 2))
    return {"r2": 1 - squared / float(np.var(y)), "rmse": squared**0.5}

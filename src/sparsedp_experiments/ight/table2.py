"""Table 2 of Wang and Gu (2019), on a stand-in for E2006-tfidf."""

from typing import Any

import numpy as np

from sparsedp_experiments.ight import text

TITLE = "Table 2: squared error of sparse linear regression on text (E2006; here: imdb_rating)"
COLUMNS = ("source", "mse", "n_nonzero", "null", "proven_epsilon")
NOTE = """Half the mean squared error on test records, mean and standard error over runs.
E2006-tfidf is not available; `imdb_rating` stands in: ratings from 1 to 10 of 25,000 film reviews,
tf-idf rows of norm one, 50,000 of its features drawn once, as in the paper. The numbers themselves
do not compare; what a method loses against IGHT without noise does. The paper does not print the
error of a constant.
"""


def trials(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """All methods."""
    return text.all_trials(settings)


def run(trial: dict[str, Any], settings: dict[str, Any], data: Any, seed: Any) -> dict[str, Any]:
    """One fit."""
    found = text.records(trial["set"], settings, data)
    model = text.model(trial, settings, found, seed)
    lower, upper = settings["target_bounds"][found.source]
    constant = (upper - lower) / 2 * float(np.mean(found.train.data.target))
    y = found.y
    return {
        "source": found.source,
        "mse": float(np.mean((model.predict(found.X) - y) ** 2) / 2),
        "n_nonzero": int(np.count_nonzero(model.coef_)),
        "null": float(np.mean((y - constant) ** 2) / 2),
        "proven_epsilon": float(model.privacy_.proven_epsilon),
    }


def summarize(rows: list[dict[str, Any]], settings: dict[str, Any]) -> str:
    """Tables."""
    return NOTE + "\n" + text.summary(rows, settings, "mse", 3, "E2006-tfidf")


def draw(rows: list[dict[str, Any]], settings: dict[str, Any], folder: Any) -> None:
    """The ratios."""
    text.picture(rows, settings, folder, "mse", "E2006", "table2")

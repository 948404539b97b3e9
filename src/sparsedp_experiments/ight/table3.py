"""Table 3 of Wang and Gu (2019), on stand-ins for RCV1."""

from typing import Any

import numpy as np

from sparsedp_experiments.ight import text

TITLE = "Table 3: test error of sparse logistic regression on text (RCV1; here: imdb, rcv1_vw)"
COLUMNS = ("source", "test_error", "n_nonzero", "null", "proven_epsilon")
NOTE = """Part of the test records that is classified wrongly, mean and standard error over runs.
RCV1 with its 20,242 training records is not available. `imdb` has as many records (25,000 film
reviews, 74,851 features) and another task; `rcv1_vw` has RCV1's features and its largest category
(CCAT), but only 1,000 training and 500 test documents, a twentieth of what the paper had.
"""


def trials(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """All methods on both sets."""
    return text.all_trials(settings)


def run(trial: dict[str, Any], settings: dict[str, Any], data: Any, seed: Any) -> dict[str, Any]:
    """One fit."""
    found = text.records(trial["set"], settings, data)
    model = text.model(trial, settings, found, seed)
    majority = float(np.mean(found.train.data.target) > 0.5)
    return {
        "source": found.source,
        "test_error": float(np.mean(model.predict(found.X) != found.y)),
        "n_nonzero": int(np.count_nonzero(model.coef_)),
        "null": float(np.mean(found.y != majority)),
        "proven_epsilon": float(model.privacy_.proven_epsilon),
    }


def summarize(rows: list[dict[str, Any]], settings: dict[str, Any]) -> str:
    """Tables."""
    return NOTE + "\n" + text.summary(rows, settings, "test_error", 4, "RCV1")


def draw(rows: list[dict[str, Any]], settings: dict[str, Any], folder: Any) -> None:
    """The ratios."""
    text.picture(rows, settings, folder, "test_error", "RCV1", "table3")

"""A model card in Markdown, with the front matter that Hugging Face and MLflow know."""

import json
import math
import re

from jinja2 import Environment, PackageLoader, StrictUndefined

from sparsedp.privacy.verdict import Verdict, labels_from_data
from sparsedp.release.card import Card
from sparsedp.release.declared import declared
from sparsedp.release.effects import MOST_PAIRS, effects_of, joint_effects_of
from sparsedp.release.model import PublishedModel
from sparsedp.release.report import by_effect

MOST_FEATURES = 40
"""Features beyond these are in the model file only."""

METRICS = {
    "AUC": "roc_auc",
    "accuracy": "accuracy",
    "balanced accuracy": "balanced_accuracy",
    "log loss": "log_loss",
    "Brier score": "brier_score",
    "R2": "r_squared",
}
"""As the readers of front matter call them; others keep our names."""

MOVES = {
    "linear": "the prediction",
    "count": "the logarithm of the expected count",
    "binary": "the log-odds",
    "multinomial": "the score of a class",
}

# What Markdown might take for its own, and what GitHub's makes links and formulas of.
MARKUP = {ord(mark): f"\\{mark}" for mark in "\\`*_[]#~|"}
ENTITIES = {ord(mark): f"&#{ord(mark)};" for mark in "&<>$@"}


def write(model: PublishedModel, verdict: Verdict | None = None) -> str:
    """The text of a README.md.

    Parameters
    ----------
    model : PublishedModel
    verdict : Verdict, optional
        Of the file, as ``verify`` found it; by default that of the record, counted anew.

    Privacy
    -------
    Says only what the model file says.
    """
    environment = Environment(
        loader=PackageLoader("sparsedp.release"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_plain,
        autoescape=False,
    )
    environment.filters |= {"number": _number, "percent": _percent}
    card, ordered, table = Card.of(model, verdict), by_effect(model), model.intervals
    body = environment.get_template("card.md").render(
        card=card,
        model=model,
        moves=MOVES[model.task],
        features=ordered[:MOST_FEATURES],
        n_more=len(ordered[MOST_FEATURES:]),
        effects=effects_of(model),
        joint=joint_effects_of(model)[:MOST_PAIRS],
        declared=() if model.schema is None else declared(model.schema, list(model.coef)),
        scores=model.scores,
        table=table,
        rows=()
        if table is None
        else [
            (name, *numbers)
            for name, *numbers in zip(
                [*(feature.label for feature in model.features), "constant"],
                table.estimates.tolist(),
                *table.intervals.T.tolist(),
                table.noise_shares.tolist(),
                strict=True,
            )
        ][:MOST_FEATURES],
        sentence=None if table is None else table.sentence([f.label for f in model.features]),
        labels_from_data=labels_from_data(model.privacy),
    )
    return _front_matter(model, card) + body


def _front_matter(model: PublishedModel, card: Card) -> str:
    """YAML; texts are in double quotes, whatever they hold."""
    task = "tabular-regression" if model.classes is None else "tabular-classification"
    tags = [task, "sparse", "linear-model", "sparsedp"]
    if card.verdict.private:
        tags.insert(0, "differential-privacy")
    lines = [
        "---",
        "# license: yours to choose, such as apache-2.0; sparsedp says nothing about your model's",
        "library_name: sparsedp",
        f"pipeline_tag: {task}",
        "tags:",
        *(f"- {tag}" for tag in tags),
    ]
    scores = {} if model.scores is None else model.scores.scores
    if scores:
        lines += [
            "metrics:",
            *(f"- {_quoted(METRICS.get(name, name))}" for name in scores),
            "model-index:",
            f"- name: {_quoted(card.title)}",
            "  results:",
            "  - task:",
            f"      type: {task}",
            "    dataset:",
            f"      name: {card.unit}s held out of the fit, not published",
            "      type: private",
            "    metrics:",
        ]
        for name, score in scores.items():
            interval = f"{score.lower:.4g} to {score.upper:.4g}"
            lines += [
                f"    - type: {_quoted(METRICS.get(name, name))}",
                f"      name: {_quoted(f'{name} (private, 95 % interval {interval})')}",
                f"      value: {score.value:.6f}",
            ]
    return "\n".join([*lines, "---", "", ""])


def _quoted(text: str) -> str:
    """A text in YAML: as JSON has it, and what cannot be printed by its number."""
    return "".join(
        mark if mark.isprintable() else f"\\U{ord(mark):08X}"
        for mark in json.dumps(text, ensure_ascii=False)
    )


def _plain(value: object) -> object:
    """What stands in the card is text, never markup: names may come from strangers."""
    if not isinstance(value, str):
        return value
    text = "".join(mark if mark.isprintable() else " " for mark in value)
    text = text.translate(MARKUP | ENTITIES).replace("://", "&#58;//")
    return re.sub(r"www\.", "www&#46;", text, flags=re.IGNORECASE)


def _number(value: float, digits: int = 4) -> str:
    if math.isinf(value):
        return "infinite"
    return "none" if math.isnan(value) else f"{value:.{digits}g}"


def _percent(value: float) -> str:
    text = f"{100 * value:.1f}"
    # A bound below certainty must not read as certainty; no sign that Markdown knows.
    return {"100.0": "over 99.9", "0.0": "under 0.1"}.get(text, text.removesuffix(".0")) + " %"

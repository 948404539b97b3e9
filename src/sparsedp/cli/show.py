"""How models look in a terminal: plain ASCII, so that it survives pipes and old consoles."""

import json
import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:  # verbs that show no model do not wait for what models need
    from sparsedp.privacy.verdict import Verdict
    from sparsedp.release.feature import Feature
    from sparsedp.release.model import PublishedModel
    from sparsedp.release.scores import HeldOut

COLORS = {"green": "green", "amber": "yellow", "red": "red"}
MOST_ROWS, MOST_PAIRS = 30, 12
BAR = 24
WIDTH = 96


def echo_json(content: object) -> None:
    """Print data for other programs."""
    click.echo(json.dumps(content, indent=1, ensure_ascii=False))


def echo_verdict(verdict: "Verdict") -> None:
    """The verdict in its color, the statement, and why it is not more."""
    click.secho(verdict.headline, fg=COLORS[verdict.color], bold=True)
    echo_wrapped(verdict.statement, indent="  ")
    for reason in verdict.reasons:
        if reason != verdict.statement:
            echo_wrapped(f"- {reason}", indent="  ")


def verdict_json(verdict: "Verdict") -> dict[str, object]:
    """The verdict for other programs."""
    return {
        "private": verdict.private,
        "level": verdict.level,
        "headline": verdict.headline,
        "color": verdict.color,
        "statement": verdict.statement,
        "reasons": verdict.reasons,
        "recounted_epsilon": verdict.epsilon if math.isfinite(verdict.epsilon) else "inf",
    }


def echo_wrapped(text: str, indent: str = "") -> None:
    """Print a sentence in lines that can be read."""
    click.echo(textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=indent))


def table_lines(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Align columns: the first `left` ones to the left, the others to the right."""
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    return [
        "  "
        + "  ".join(
            cell.ljust(width) if j < left else cell.rjust(width)
            for j, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def coefficient_lines(model: "PublishedModel") -> list[str]:
    """A small bar chart; bars show the effect of a feature across its limits."""
    from sparsedp.release.report import by_effect

    features = by_effect(model)[:MOST_ROWS]
    more = len(model.features) - len(features)
    lines = []
    if model.task == "multinomial":
        rows = [["", *model.outputs]]
        rows += [[_short(f.label), *(f"{c:.3g}" if c else "." for c in f.coef)] for f in features]
        rows.append(["(constant)", *(f"{value:.3g}" for value in model.intercept)])
        lines += table_lines(rows)
    else:
        longest = max((f.swing[0] for f in features), default=1.0)
        rows = [[_short(f.label), f"{f.coef[0]:.4g}"] for f in features]
        rows.append(["(constant)", f"{model.intercept[0]:.4g}"])
        bars = [_bar(f, longest) for f in features]
        lines += [
            f"{row}  {bar}".rstrip()
            for row, bar in zip(table_lines(rows), [*bars, ""], strict=True)
        ]
    if any(feature.knots for feature in model.features):
        lines.append("  ~ is a piecewise linear effect, whose shape is in the report")
    if more:
        lines.append(f"  ... and {more} more in the report")
    return lines


def pair_lines(model: "PublishedModel") -> list[str]:
    """Weights of pairs of features that interact, the heaviest first."""
    from sparsedp.release.effects import joint_effects_of

    found = joint_effects_of(model)
    rows = [
        [_short(" x ".join(each.names)), *(f"{w:.3g}" if w else "." for w in each.pair.weights)]
        for each in found[:MOST_PAIRS]
    ]
    if rows and model.task == "multinomial":
        rows.insert(0, ["", *model.outputs])
    more = [f"  ... and {len(found) - MOST_PAIRS} more in the report"]
    return [*(table_lines(rows) if rows else []), *(more if len(found) > MOST_PAIRS else [])]


def score_lines(found: "HeldOut") -> list[str]:
    """Private scores with intervals, beside those of a model that knows nothing else."""
    rows = [["", "estimate", "95 % interval", "null"]]
    for name, score in found.scores.items():
        null = f"{found.null[name]:.4g}" if name in found.null else ""
        rows.append([name, f"{score.value:.4g}", f"{score.lower:.4g} to {score.upper:.4g}", null])
    lines = table_lines(rows) if found.scores else []
    lines += [f"  {name}: refused, {why}" for name, why in found.refused.items()]
    said = found.hint if found.scores else None
    return lines + ([] if said is None else textwrap.wrap(f"{said}.", WIDTH - 2))


def _bar(feature: "Feature", longest: float) -> str:
    if feature.swing[0] == 0:  # of a feature that does something only together with another
        return ""
    share = feature.swing[0] / longest if 0 < longest < math.inf else 1.0
    mark = "~" if feature.knots else "+" if feature.effect[0] > 0 else "-"
    return mark * max(1, round(BAR * share))


def _short(label: str) -> str:
    return label if len(label) <= 40 else label[:37] + "..."

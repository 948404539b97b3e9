"""One HTML page about a model, for whoever must approve it: no scripts, nothing from elsewhere."""

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from sparsedp.privacy.verdict import Verdict, labels_from_data
from sparsedp.release.approval.charged import Charged
from sparsedp.release.approval.checklist import checklist
from sparsedp.release.approval.signed import Signed
from sparsedp.release.card import Card
from sparsedp.release.declared import declared
from sparsedp.release.effects import MOST_PAIRS, effects_of, joint_effects_of
from sparsedp.release.feature import Feature
from sparsedp.release.intervals.forest import forest_of
from sparsedp.release.model import PublishedModel
from sparsedp.release.numbers import limit, number, percent
from sparsedp.release.panels import pair_panels_of, panels_of
from sparsedp.release.scores import pictures_of

MOST_BARS = 40
"""Features beyond these are listed in a table without bars."""

CLASSES_PER_CHART = 4
"""More classes continue in a further chart below."""

WIDTH = 200
"""Of a bar's drawing, in its own units."""


@dataclass(frozen=True)
class Part:
    """What lies on one side of zero of a bar: where it starts and how long it is, to WIDTH."""

    sign: str
    start: float
    length: float


@dataclass(frozen=True)
class Bar:
    """A coefficient as a bar, or a shape from its lowest to its highest point: of two parts."""

    coef: float
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Row:
    """A feature with a bar per output."""

    feature: Feature
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Chart:
    """The features of a model against some of its outputs."""

    outputs: tuple[str, ...]
    rows: tuple[Row, ...]
    intercept: tuple[float, ...]
    zero: float


def write_report(
    model: PublishedModel,
    path: str | Path,
    evaluation: Mapping[str, object] | None = None,
    verdict: Verdict | None = None,
    *,
    charged: Charged | None = None,
    signed: Signed | None = None,
) -> Path:
    """Write the report of a model; return its path.

    Parameters
    ----------
    model : PublishedModel
    path : str or Path
        Of the HTML file.
    evaluation : mapping, optional
        Scores on other data, as ``sparsedp evaluate --json`` prints them: ``data`` says which data,
        ``metrics`` maps a metric to its value for each of the compared models.
    verdict : Verdict, optional
        Of the file, as ``verify`` found it; by default that of the record, counted anew.
    charged : Charged, optional
        The line of the ledger that paid for the model.
    signed : Signed, optional
        The signature beside the model file.

    Privacy
    -------
    Says only what the model file says, so it may be published with it. Scores that are given as
    `evaluation` are printed as they are and are not covered by the guarantee.
    """
    path = Path(path)
    page = render_report(model, evaluation, verdict, charged=charged, signed=signed)
    path.write_text(page, encoding="utf-8")
    return path


def render_report(
    model: PublishedModel,
    evaluation: Mapping[str, object] | None = None,
    verdict: Verdict | None = None,
    *,
    charged: Charged | None = None,
    signed: Signed | None = None,
) -> str:
    """The report as text; see :func:`write_report`."""
    environment = Environment(
        loader=PackageLoader("sparsedp.release"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": number, "percent": percent, "limit": limit}
    ordered = by_effect(model)
    columns = None if model.schema is None else declared(model.schema, list(model.coef))
    card, joint = Card.of(model, verdict), joint_effects_of(model)[:MOST_PAIRS]
    style = environment.get_template("report.css").render(fingerprint=card.fingerprint)
    return environment.get_template("report.html").render(
        style=style,
        # A browser applies this style and nothing else, whatever a name in the model holds.
        style_digest=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
        card=card,
        model=model,
        labels_from_data=labels_from_data(model.privacy),
        charts=_charts(model, ordered[:MOST_BARS]),
        further=ordered[MOST_BARS:],
        effects=effects_of(model),
        joint=joint,
        panels=panels_of(model, ordered),
        pair_panels=pair_panels_of(model, joint),
        forest=None if model.intervals is None else forest_of(model.intervals, model.features),
        line=model.linear_form(),
        declared=columns,
        checklist=checklist(
            model, card, columns, charged=charged, exact_scores=evaluation is not None
        ),
        width=WIDTH,
        evaluation=None if evaluation is None else _checked(evaluation),
        scores=model.scores,
        charged=charged,
        signed=signed,
        pictures=() if model.scores is None else pictures_of(model.scores),
    )


def by_effect(model: PublishedModel) -> list[Feature]:
    """Features by how far their effect moves within the limits, strongest first."""
    return sorted(model.features, key=lambda feature: -max(feature.swing))


def _charts(model: PublishedModel, features: list[Feature]) -> list[Chart]:
    ranges = {feature.index: _ranges(feature) for feature in features}
    ends = [0.0, *(end for each in ranges.values() for pair in each for end in pair)]
    low, high = min(ends), max(ends)
    scale = WIDTH / (high - low or 1.0)
    charts = []
    for first in range(0, len(model.outputs), CLASSES_PER_CHART):
        part = slice(first, first + CLASSES_PER_CHART)
        rows = tuple(
            Row(
                feature,
                tuple(
                    Bar(coef, _parts(least, most, low, scale))
                    for coef, (least, most) in zip(
                        feature.coef[part], ranges[feature.index][part], strict=True
                    )
                ),
            )
            for feature in features
        )
        charts.append(Chart(model.outputs[part], rows, model.intercept[part], -low * scale))
    return charts


def _ranges(feature: Feature) -> list[tuple[float, float]]:
    """Lowest and highest point of the effect on each output; the lower limit counts as zero."""
    if not feature.knots:
        return [(min(effect, 0.0), max(effect, 0.0)) for effect in feature.effect]
    values = feature.shape.values
    return list(zip(values.min(axis=0).tolist(), values.max(axis=0).tolist(), strict=True))


def _parts(least: float, most: float, low: float, scale: float) -> tuple[Part, ...]:
    parts = (
        Part("negative", (least - low) * scale, -least * scale),
        Part("positive", -low * scale, most * scale),
    )
    return tuple(part for part in parts if part.length) or parts[1:]


def _checked(evaluation: Mapping[str, object]) -> Mapping[str, object]:
    metrics = evaluation.get("metrics")
    rows = list(metrics.values()) if isinstance(metrics, dict) else []
    if not rows or not all(isinstance(row, dict) and row and _scores(row) for row in rows):
        raise ValueError(
            "an evaluation needs metrics such as {'accuracy': {'model': 0.9, 'null': 0.5}}: "
            "write it by 'sparsedp evaluate --json'"
        )
    return {"data": str(evaluation.get("data", "data not named")), "metrics": metrics}


def _scores(row: Mapping[str, object]) -> bool:
    """Whether all values of a row are numbers that can be shown."""
    return all(
        value is None
        or (isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300)
        for value in row.values()
    )

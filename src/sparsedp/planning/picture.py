"""A plan as HTML: one picture and a table; no scripts, nothing from elsewhere.

Nothing but numbers and words of this package goes into the page: there is no text to escape.
"""

import math
from typing import TYPE_CHECKING

from sparsedp.planning.words import assumptions, axis, price_words, rests_on, rounded

if TYPE_CHECKING:
    from sparsedp.planning.result import QualityPlan

WIDTH, HEIGHT = 620, 320
LEFT, RIGHT, TOP, BOTTOM = 46, 16, 12, 56

STYLE = """
.sparsedp-plan { --ink: #1d2733; --soft: #5c6b7a; --line: #dde3ea; --blue: #0072b2; --red: #b3001b;
  color: var(--ink); max-width: 760px; font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto,
  "Helvetica Neue", Arial, sans-serif; print-color-adjust: exact; }
.sparsedp-plan h1 { font-size: 26px; line-height: 1.25; margin: 0 0 8px; }
.sparsedp-plan .promise { font-size: 19px; margin: 8px 0; }
.sparsedp-plan .soft { color: var(--soft); font-size: 14px; margin: 4px 0; }
.sparsedp-plan .alarm { border-left: 5px solid var(--red); padding: 8px 14px; margin: 12px 0; }
.sparsedp-plan svg { display: block; width: 100%; height: auto; margin: 14px 0 4px; }
.sparsedp-plan svg text { fill: var(--soft); font-size: 13px; }
.sparsedp-plan .grid { stroke: var(--line); }
.sparsedp-plan .wide { fill: var(--blue); opacity: .18; }
.sparsedp-plan .narrow { fill: var(--blue); opacity: .32; }
.sparsedp-plan .middle { fill: none; stroke: var(--blue); stroke-width: 2.5; }
.sparsedp-plan .ceiling { fill: var(--soft); fill-opacity: .12; stroke: var(--soft);
  stroke-width: 1; }
.sparsedp-plan .null { stroke: var(--red); stroke-dasharray: 5 4; stroke-width: 1.5; }
.sparsedp-plan .here { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 2 3; }
.sparsedp-plan table { border-collapse: collapse; width: 100%; margin: 10px 0; }
.sparsedp-plan th, .sparsedp-plan td { padding: 6px 10px 6px 0; text-align: left;
  border-bottom: 1px solid var(--line); vertical-align: top; background: none; }
.sparsedp-plan th { color: var(--soft); font-weight: 500; width: 96px; }
.sparsedp-plan svg.key { display: inline-block; width: 22px; height: 11px; margin: 0 6px 0 0; }
.sparsedp-plan .pair { white-space: nowrap; margin-right: 12px; }
@media (prefers-color-scheme: dark) { .sparsedp-plan { --ink: #e8edf2; --soft: #a8b4c0;
  --line: #36414d; --blue: #56b4e9; --red: #ff8a80; } }
@media (max-width: 500px) { .sparsedp-plan svg text { font-size: 19px; }
  .sparsedp-plan th { width: 74px; } }
@media print { .sparsedp-plan { --ink: #000; --soft: #444; --line: #ccc; --blue: #0072b2;
  --red: #b3001b; font-size: 11pt; }
  .sparsedp-plan tr, .sparsedp-plan svg { break-inside: avoid; } }
"""
PAGE_STYLE = """
body { margin: 0 auto; max-width: 760px; padding: 32px 20px; background: #fff; }
@media (prefers-color-scheme: dark) { body { background: #14191f; } }
@media print { body { padding: 0; background: #fff; } @page { margin: 16mm; } }
"""


def page(plan: "QualityPlan") -> str:
    """A whole file."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Plan: {plan.metric} about {plan.quality.expected:.2f}</title>\n"
        f'<meta name="color-scheme" content="light dark">\n<style>{PAGE_STYLE}</style>\n</head>\n'
        f"<body>\n{fragment(plan)}\n</body>\n</html>\n"
    )


def fragment(plan: "QualityPlan") -> str:
    """The part that a notebook shows."""
    quality = plan.quality
    alarm = (
        '<p class="alarm">Nothing better than guessing is to be expected of this fit.</p>'
        if plan.hopeless
        else ""
    )
    assumed = f'<p class="soft">{assumptions(plan).capitalize()}.</p>' if plan.assumed else ""
    return (
        f'<div class="sparsedp-plan"><style>{STYLE}</style>\n'
        "<h1>Expected quality, before any record is touched</h1>\n"
        f'<p class="promise">{plan.metric} about <strong>{quality.expected:.2f}</strong>; at least '
        f"<strong>{quality.at_least:.2f}</strong> in 19 of 20 cases.</p>\n"
        f'{alarm}<p class="soft">{plan.n_records:,.0f} records planned, epsilon = '
        f"{plan.facts.epsilon:g}, delta = {plan.facts.delta:g}; {rests_on(plan)}.</p>\n"
        f"{assumed}\n{drawing(plan)}\n{_legend(plan)}\n{_table(plan)}\n</div>"
    )


def drawing(plan: "QualityPlan") -> str:
    """Quality over epsilon as a picture."""
    low, high = axis(plan)
    epsilons = [math.log(epsilon) for epsilon, _ in plan.by_epsilon]
    first, last = epsilons[0], epsilons[-1]

    def x(log_epsilon: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (log_epsilon - first) / (last - first or 1.0)

    def y(value: float) -> float:
        inside = min(max(value, low), high)
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - inside) / (high - low)

    def points(name: str, *, back: bool = False) -> str:
        found = [
            f"{x(at):.1f},{y(getattr(band, name)):.1f}"
            for at, (_, band) in zip(epsilons, plan.by_epsilon, strict=True)
        ]
        return " ".join(reversed(found) if back else found)

    roof, floor = y(plan.ceiling.high), y(plan.ceiling.low)
    here = x(math.log(plan.facts.epsilon))
    shapes = [
        *(_rule(value, y(value)) for value in _ticks(low, high)),
        f'<rect class="ceiling" x="{LEFT}" y="{roof:.1f}" width="{WIDTH - LEFT - RIGHT}" '
        f'height="{max(floor - roof, 2):.1f}"/>',
        f'<polygon class="wide" points="{points("at_least")} {points("at_most", back=True)}"/>',
        f'<polygon class="narrow" points="{points("low")} {points("high", back=True)}"/>',
        f'<polyline class="middle" points="{points("expected")}"/>',
        _line("null", LEFT, WIDTH - RIGHT, y(plan.null), y(plan.null)),
        _line("here", here, here, TOP, HEIGHT - BOTTOM),
        *(
            f'<text x="{x(math.log(each)):.1f}" y="{HEIGHT - 33}" text-anchor="middle">{each:g}'
            "</text>"
            for each in (0.1, 0.3, 1.0, 3.0, 10.0)
        ),
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">epsilon'
        "</text>",
    ]
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{plan.metric} over epsilon">'
        f"{''.join(shapes)}</svg>"
    )


def _line(name: str, x1: float, x2: float, y1: float, y2: float) -> str:
    return f'<line class="{name}" x1="{x1:.1f}" x2="{x2:.1f}" y1="{y1:.1f}" y2="{y2:.1f}"/>'


def _rule(value: float, at: float) -> str:
    label = f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{value:.1f}</text>'
    return _line("grid", LEFT, WIDTH - RIGHT, at, at) + label


def _ticks(low: float, high: float) -> list[float]:
    return [each / 10 for each in range(math.ceil(10 * low - 1e-9), math.floor(10 * high) + 1)]


def _legend(plan: "QualityPlan") -> str:
    def key(name: str, words: str) -> str:
        return (
            '<span class="pair"><svg class="key" viewBox="0 0 22 11">'
            f'<rect class="{name}" width="22" height="11"/></svg>{words}</span> '
        )

    return (
        f'<p class="soft">{key("narrow", "half of all cases")}{key("wide", "nine of ten")}'
        f"{key('ceiling', 'without privacy (ceiling)')}<br>The dashed line is guessing "
        f"({plan.null:.2f}), the dotted one this plan.</p>"
    )


def _table(plan: "QualityPlan") -> str:
    needs = "; ".join(
        f"{need.loss:g}: {rounded(need.likely)} (to be safe {rounded(need.sure)})"
        for need in plan.needs
    )
    share = plan.scores.holdout
    scores = plan.scores.words(plan.metric)
    rows = {
        "Needs": f"records with which noise costs no more {plan.metric} than {needs}",
        "Features": plan.features.words(),
        "Scores": f"with a holdout of {share:g}: {scores}",
        "Price": price_words(plan),
    }
    cells = "".join(f"<tr><th>{name}</th><td>{text}</td></tr>" for name, text in rows.items())
    return f"<table><tbody>{cells}</tbody></table>"

"""A plan as text: plain ASCII, so that it survives pipes and old consoles."""

import math
from typing import TYPE_CHECKING

from sparsedp.planning.band import Band

if TYPE_CHECKING:
    from sparsedp.planning.result import QualityPlan

BAR = 44
"""Characters of a bar."""


def text_of(plan: "QualityPlan") -> str:
    """All that a plan says."""
    return "\n".join([*quality_lines(plan), *picture_lines(plan), *other_lines(plan)])


def quality_lines(plan: "QualityPlan") -> list[str]:
    """The promise and what it rests on."""
    quality, metric = plan.quality, plan.metric
    low, high = plan.ceiling.low, plan.ceiling.high
    without = f"{low:.2f}" if low == high else f"{low:.2f} to {high:.2f}"
    lines = [
        f"Quality   {metric} about {quality.expected:.3f}; at least {quality.at_least:.3f} in 19 "
        f"of 20 cases (guessing {plan.null:.2f}, without privacy {without})"
    ]
    if plan.hopeless:
        lines.append("          NOTHING better than guessing is to be expected of this fit")
    lines.append(f"          {rests_on(plan)}")
    if plan.assumed:
        lines.append(f"          {assumptions(plan)}")
    return lines


def rests_on(plan: "QualityPlan") -> str:
    """Where the numbers come from."""
    if plan.from_public:
        return f"by {plan.n_fits} fits of the public sample; no private record was looked at"
    return (
        f"by the law of {plan.n_fits:,} fits of tables of {plan.n_tables} public sources; no "
        "record was looked at"
    )


def assumptions(plan: "QualityPlan") -> str:
    """What nobody said."""
    facts = plan.facts
    values = {
        "ceiling": f"{plan.ceiling.low:.2f} to {plan.ceiling.high:.2f} without privacy, as public "
        "tables have it (ceiling)",
        "rate": f"a class of {facts.rate:.0%} (rate)",
        "spread": f"a target whose deviation is {facts.spread:g} of its half width (spread)",
    }
    return f"assumed: {'; '.join(values[name] for name in plan.assumed)}"


def picture_lines(plan: "QualityPlan") -> list[str]:
    """Quality over epsilon: from 5 to 95 % as dashes, the middle half as equal signs."""
    low, high = axis(plan)
    lines = ["", f"  epsilon  {plan.metric:>8}   {low:<{BAR - 4}.2f}{high:>4.2f}"]
    for epsilon, found in plan.by_epsilon:
        here = " <" if epsilon == plan.facts.epsilon else ""
        lines.append(
            f"  {epsilon:<7g}  {found.expected:8.3f}   {bar(found, low, high)}{here}".rstrip()
        )
    return [*lines, ""]


def axis(plan: "QualityPlan") -> tuple[float, float]:
    """Ends of a picture: from guessing, or a little below, to the ceiling."""
    bands = [found for _, found in plan.by_epsilon]
    least = min(found.low for found in bands)
    top = max(plan.ceiling.high, max(found.high for found in bands))
    low = min(plan.null, max(least, plan.null - 0.25 * (top - plan.null)))
    return low, min(top + 0.02 * (top - low), 1.0)


def bar(found: Band, low: float, high: float) -> str:
    """A band between two ends."""

    def at(value: float) -> int:
        return round((min(max(value, low), high) - low) / (high - low) * (BAR - 1))

    cells = [" "] * BAR
    for i in range(at(found.at_least), at(found.at_most) + 1):
        cells[i] = "-"
    for i in range(at(found.low), at(found.high) + 1):
        cells[i] = "="
    cells[at(found.expected)] = "O"
    return "".join(cells)


def other_lines(plan: "QualityPlan") -> list[str]:
    """Records, features, scores and price."""
    needs = [
        f"{need.loss:g}: {rounded(need.likely)} (to be safe {rounded(need.sure)})"
        for need in plan.needs
    ]
    share = plan.scores.holdout
    coin = f"holdout={share:g}" if plan.holdout else f"with holdout={share:g} they would tell"
    return [
        f"Needs     records with which noise costs no more {plan.metric} than {'; '.join(needs)}",
        f"Features  {plan.features.words()}",
        f"Scores    {coin}: {plan.scores.words(plan.metric)}",
        f"Price     {price_words(plan)}",
    ]


def price_words(plan: "QualityPlan") -> str:
    """What is charged, and what remains."""
    price = plan.price
    said = f"epsilon = {price.epsilon:g}, delta = {price.delta:g}"
    left, remains = price.left, price.remains
    if left is None or remains is None:
        return f"{said}; no ledger was named"
    if min(remains) < 0:
        return f"{said}: MORE than the ledger has left by its sums (epsilon = {left[0]:g})"
    return f"{said}; of the ledger remain epsilon = {remains[0]:.6g}, delta = {remains[1]:.3g}"


def rounded(records: float) -> str:
    """Two digits are more than is known."""
    unit = 10 ** (math.floor(math.log10(records)) - 1)
    return f"{math.ceil(records / unit) * unit:,.0f}"

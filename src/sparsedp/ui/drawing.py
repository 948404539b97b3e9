"""The expected quality over epsilon, as a small picture of what ``sparsedp plan`` printed."""

import math
from collections.abc import Mapping, Sequence
from typing import cast

from markupsafe import Markup

WIDTH, HEIGHT = 620, 250
LEFT, RIGHT, TOP, BOTTOM = 44, 14, 16, 46


def drawing(quality: Mapping[str, object]) -> Markup:
    """Only numbers go into it, so there is nothing to escape."""
    bands = cast("Sequence[Mapping[str, float]]", quality["by_epsilon"])
    ceiling = cast("Sequence[float]", quality["ceiling"])
    null, epsilon = float(str(quality["null"])), float(str(quality["epsilon"]))
    low = min(null, *(band["at_least"] for band in bands)) - 0.02
    high = min(1.0, max(*ceiling, *(band["at_most"] for band in bands)) + 0.02)
    low = max(low, -0.2)
    first, last = math.log(bands[0]["epsilon"]), math.log(bands[-1]["epsilon"])

    def x(at: float) -> float:
        inside = min(max(math.log(at), first), last)
        return LEFT + (WIDTH - LEFT - RIGHT) * (inside - first) / (last - first)

    def y(value: float) -> float:
        inside = min(max(value, low), high)
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - inside) / (high - low)

    def along(name: str, step: int = 1) -> str:
        return " ".join(
            f"{x(band['epsilon']):.1f},{y(band[name]):.1f}" for band in list(bands)[::step]
        )

    roof, floor, here = y(ceiling[1]), y(ceiling[0]), x(epsilon)
    ticks = [each / 10 for each in range(math.ceil(10 * low), math.floor(10 * high) + 1)]
    parts = [
        *(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(t):.1f}" y2="{y(t):.1f}"/>'
            f'<text x="{LEFT - 6}" y="{y(t) + 4:.1f}" text-anchor="end">{t:.1f}</text>'
            for t in ticks
        ),
        f'<rect class="ceiling" x="{LEFT}" y="{roof:.1f}" width="{WIDTH - LEFT - RIGHT}" '
        f'height="{max(floor - roof, 2):.1f}"/>',
        f'<polygon class="wide" points="{along("at_least")} {along("at_most", -1)}"/>',
        f'<polygon class="narrow" points="{along("low")} {along("high", -1)}"/>',
        f'<polyline class="middle" points="{along("expected")}"/>',
        f'<line class="null" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(null):.1f}" '
        f'y2="{y(null):.1f}"/>',
        f'<line class="here" x1="{here:.1f}" x2="{here:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>',
        *(
            f'<text x="{x(each):.1f}" y="{HEIGHT - 26}" text-anchor="middle">{each:g}</text>'
            for each in (0.1, 0.3, 1.0, 3.0, 10.0)
        ),
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" text-anchor="middle">epsilon'
        "</text>",
    ]
    return Markup(
        f'<svg class="quality" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="Expected quality over epsilon">{"".join(parts)}</svg>'
    )

"""Numbers as reports write them."""

import math


def number(value: float | None, digits: int = 4) -> str:
    """In few digits, with a minus sign."""
    if value is None:
        return "–"
    if isinstance(value, float) and math.isinf(value):
        return "infinite"
    return f"{value:.{digits}g}".replace("e-0", "e-").replace("-", "−")


def limit(value: float) -> str:
    """All of a whole number; of others as much as a reader needs, for the file has the rest."""
    return number(value, 9 if float(value).is_integer() else 4)


def percent(value: float) -> str:
    """Of a share."""
    text = f"{100 * value:.1f}"
    # A bound below certainty must not read as certainty.
    return {"100.0": "> 99.9", "0.0": "< 0.1"}.get(text, text.removesuffix(".0")) + " %"

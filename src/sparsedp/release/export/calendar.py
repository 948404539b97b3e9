"""Years, months and days of the year from a number of days, by arithmetic alone.

Engines differ in their functions of dates, not in floors and products. Years are taken to begin in
March, so that the leap day is the last one (Hinnant 2013, days_from_civil).
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from sparsedp.data.schema.kinds.date import EPOCH
from sparsedp.release.export.expression import (
    Choose,
    Compare,
    Constant,
    Function,
    Number,
    Product,
    Quotient,
    Step,
    Sum,
)

FIRST = float(date.min.toordinal() - EPOCH)
LAST = float(date.max.toordinal() - EPOCH)

DAYS_TO_1970 = 719468
"""From the first of March of the year 0."""

DAYS_PER_ERA = 146097
"""Of 400 years."""


@dataclass(frozen=True)
class Civil:
    """A date: its year, its month from 1, and how many days of the year came before it."""

    year: Step
    month: Step
    day_of_year: Step


def weekday(days: Number) -> Number:
    """0 for Monday; 1970-01-01 was a Thursday."""
    since = Sum((days, Constant(3.0)))
    return Sum((since, _times(-7.0, _whole(since, 7.0))))


def civil(days: Number, add: Callable[[Number], Step]) -> Civil:
    """The date of a number of days since 1970-01-01; `add` keeps a number as a step."""
    shifted = add(Sum((days, Constant(float(DAYS_TO_1970)))))
    era = add(_whole(shifted, DAYS_PER_ERA))
    in_era = add(Sum((shifted, _times(-DAYS_PER_ERA, era))))
    leaps = (
        in_era,
        _times(-1.0, _whole(in_era, 1460.0)),
        _whole(in_era, 36524.0),
        _times(-1.0, _whole(in_era, 146096.0)),
    )
    year_of_era = add(_whole(Sum(leaps), 365.0))
    year = add(Sum((year_of_era, _times(400.0, era))))  # that began in March
    since_march = add(
        Sum(
            (
                in_era,
                _times(-365.0, year_of_era),
                _times(-1.0, _whole(year_of_era, 4.0)),
                _whole(year_of_era, 100.0),
            )
        )
    )
    months = add(_whole(Sum((_times(5.0, since_march), Constant(2.0))), 153.0))
    late = Compare(months, "<", Constant(10.0))  # March to December
    month = add(Choose(((late, Sum((months, Constant(3.0)))),), Sum((months, Constant(-9.0)))))
    own_year = add(Choose(((late, year),), Sum((year, Constant(1.0)))))
    leap = add(_leap(own_year))
    before = Sum((since_march, Constant(59.0), leap))
    day = add(Choose(((late, before),), Sum((since_march, Constant(-306.0)))))
    return Civil(own_year, month, day)


def _leap(year: Step) -> Number:
    """1 for a leap year, else 0."""

    def divides(divisor: float) -> Compare:
        return Compare(_times(divisor, _whole(year, divisor)), "=", year)

    one, zero = Constant(1.0), Constant(0.0)
    return Choose(((divides(400.0), one), (divides(100.0), zero), (divides(4.0), one)), zero)


def _whole(number: Number, divisor: float) -> Number:
    """How often a divisor goes into a whole number.

    A half is added first: quotients of whole numbers are rounded, and floors of those that should
    be whole could fall short.
    """
    half = Sum((number, Constant(0.5)))
    return Function("floor", Quotient(half, Constant(float(divisor))))


def _times(factor: float, number: Number) -> Number:
    return Product(Constant(factor), number)

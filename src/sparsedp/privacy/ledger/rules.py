"""Which charges a ledger admits: two rules, each fixed with the budget (proofs in ledger.md)."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Literal, get_args

from sparsedp.privacy.ledger.chain import Line
from sparsedp.privacy.ledger.sums import exact, text_of, total
from sparsedp.privacy.plain import Parsed

Rule = Literal["sum", "union"]
RULES: tuple[Rule, ...] = get_args(Rule)

SUM_PART, TAIL_PART, LEAK_PART = Fraction(1, 2), Fraction(2, 5), Fraction(1, 10)
"""How rule "union" divides delta: together one, or the two rules are not a filter."""


@dataclass(frozen=True)
class Spent:
    """What some lines come to. A divergence of None is infinite, or was never counted."""

    epsilon: Fraction
    delta: Fraction
    divergence: Fraction | None
    leak: Fraction

    @classmethod
    def of(cls, lines: Sequence[Line]) -> "Spent":
        """Exact sums over all lines but the budget itself."""
        charges = [line for line in lines if line.kind != "budget"]
        divergences = [line.divergence for line in charges if line.kind == "charge"]
        known = [text for text in divergences if text not in (None, "inf")]
        return cls(
            total(line.epsilon for line in charges),
            total(line.delta for line in charges),
            total(known) if len(known) == len(divergences) else None,
            total(line.leak for line in charges if line.leak is not None),
        )


@dataclass(frozen=True)
class SumRule:
    """Epsilons and deltas add up: the guarantee that everybody knows."""

    epsilon: str
    delta: str

    def admits(self, spent: Spent) -> bool:
        """Whether charges of this total are within the budget."""
        return spent.epsilon <= exact(self.epsilon) and spent.delta <= exact(self.delta)

    def used(self, spent: Spent) -> float:
        """Part of the budget that is used, between 0 and 1."""
        return _part((spent.epsilon, exact(self.epsilon)), (spent.delta, exact(self.delta)))


@dataclass(frozen=True)
class UnionRule:
    """A charge passes while the sum, with half of delta, or a Renyi filter of one order holds.

    Parameters
    ----------
    epsilon : str
        Of the budget; this and all others are numbers as ledgers write them.
    delta_sum, tail, leaks : str
        Parts of delta: for the sum, for the filter's tail, and for events on which the filter's
        divergences do not hold.
    alpha, divergence : str
        The order, fixed before the first charge, and what divergences may add up to.
    """

    epsilon: str
    delta_sum: str
    tail: str
    leaks: str
    alpha: str
    divergence: str

    @classmethod
    def of(cls, epsilon: float, delta: float) -> "UnionRule":
        """Divide delta and choose the order that admits most Gaussian releases."""
        if not delta > 0:
            raise ValueError('rule="union" needs a positive delta; with delta = 0 use rule="sum"')
        parts = [_below(exact(text_of(delta)) * p) for p in (SUM_PART, TAIL_PART, LEAK_PART)]
        alpha = _best_order(epsilon, parts[1])
        limit = largest_divergence(alpha, epsilon, parts[1])
        return cls(*map(text_of, (epsilon, *parts, alpha, limit)))

    def admits(self, spent: Spent) -> bool:
        """Whether charges of this total are within one of the two rules."""
        return self._sum().admits(spent) or (
            spent.divergence is not None
            and spent.divergence <= exact(self.divergence)
            and spent.leak <= exact(self.leaks)
        )

    def used(self, spent: Spent) -> float:
        """Part of the budget that is used under the rule that has more left."""
        by_sum = self._sum().used(spent)
        if spent.divergence is None:
            return by_sum
        divergence = (spent.divergence, exact(self.divergence))
        return min(by_sum, _part(divergence, (spent.leak, exact(self.leaks))))

    def sound(self, delta: str) -> bool:
        """Whether the stored numbers are what the proof asks for."""
        parts = exact(self.delta_sum) + exact(self.tail) + exact(self.leaks)
        alpha, tail = float(self.alpha), float(self.tail)
        if not (parts <= exact(delta) and alpha > 1 and tail > 0):
            return False
        return float(self.divergence) <= largest_divergence(alpha, float(self.epsilon), tail)

    def _sum(self) -> SumRule:
        return SumRule(self.epsilon, self.delta_sum)


def rule_of(name: str, epsilon: str, delta: str, numbers: Parsed) -> SumRule | UnionRule:
    """The rule that a ledger's first line states; ValueError if it states none that is valid."""
    if name == "sum" and not numbers:
        return SumRule(epsilon, delta)
    if name == "union":
        rule = UnionRule(epsilon, **numbers)
        if rule.sound(delta):
            return rule
    raise ValueError("not a rule for which a proof is known")


def stated(rule: SumRule | UnionRule) -> Parsed:
    """The numbers of a rule beside the budget, for the first line."""
    return {k: v for k, v in asdict(rule).items() if k not in ("epsilon", "delta")}


def largest_divergence(alpha: float, epsilon: float, tail: float) -> float:
    """What divergences of order ``alpha`` may add up to, so that delta is at most ``tail``."""
    log_tail = math.log(tail) + math.log(alpha)
    limit = epsilon + log_tail / (alpha - 1) + math.log1p(1 / (alpha - 1))
    return limit - 1e-12 * (1 + epsilon + abs(log_tail) / (alpha - 1))


def _best_order(epsilon: float, tail: float) -> float:
    """The order at which most Gaussian releases fit, to six digits, from public numbers alone."""
    from scipy.optimize import minimize_scalar

    def missed(log_order: float) -> float:
        alpha = 1 + math.exp(log_order)
        return -largest_divergence(alpha, epsilon, tail) / alpha

    # The limit is positive only above about 1 + log(1/tail) / epsilon: search around that.
    start = math.log((1 - math.log(tail)) / epsilon)
    found = minimize_scalar(missed, bounds=(start - 8, start + 8), method="bounded")
    alpha = float(f"{1 + math.exp(found.x):.6g}")  # type: ignore[attr-defined]
    if not (alpha > 1 and largest_divergence(alpha, epsilon, tail) > 0):
        raise ValueError('rule="union" finds no order for this budget: use rule="sum"')
    return alpha


def _below(value: Fraction) -> float:
    """The largest number of floating point whose decimal is not above."""
    number = float(value)
    while exact(text_of(number)) > value:
        number = math.nextafter(number, 0.0)
    return number


def _part(*pairs: tuple[Fraction, Fraction]) -> float:
    parts = [
        1.0 if limit == 0 else float(min(1, spent / limit))
        for spent, limit in pairs
        if spent or limit
    ]
    return max(parts, default=0.0)

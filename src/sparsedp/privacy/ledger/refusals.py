"""Why a charge is refused; nothing is written then."""

from pathlib import Path

from sparsedp.privacy.ledger.errors import BudgetExceeded, LedgerError
from sparsedp.privacy.ledger.rules import UnionRule
from sparsedp.privacy.ledger.state import UNITS, State
from sparsedp.privacy.neighbors import NEIGHBORS
from sparsedp.privacy.plain import Parsed


def check_cost(epsilon: float, delta: float, neighbors: str, unit: str) -> None:
    """Refuse what is no cost for any ledger."""
    if neighbors not in NEIGHBORS:
        raise ValueError(f"neighbors must be one of {NEIGHBORS}, got {neighbors!r}")
    if unit not in UNITS:
        raise ValueError(f"unit must be one of {UNITS}, got {unit!r}")
    if not epsilon >= 0 or not 0 <= delta <= 1:
        raise ValueError(f"not a privacy cost: epsilon={epsilon!r}, delta={delta!r}")


def check_same(state: State, known: str | None) -> None:
    """Refuse a ledger that has taken the place of the one that was opened."""
    if known is not None and state.id != known:
        raise BudgetExceeded(
            f"the ledger at {state.path} is not the one that was opened (or pickled): another has "
            "taken its place; nothing was charged. Open it anew by Ledger(path=...)"
        )


def check_kind(state: State, neighbors: str, unit: str) -> None:
    """Refuse a charge that holds for something else than the others."""
    if state.first["unit"] != unit:
        raise BudgetExceeded(
            f"this ledger protects every {state.first['unit']}; a fit that protects every "
            f"{unit} cannot be added to it: use a ledger of its own, made by "
            f"Ledger(..., unit={unit!r}) or sparsedp ledger --create --unit {unit}"
        )
    if state.neighbors not in (None, neighbors):
        raise BudgetExceeded(
            f"this ledger counts charges under {state.neighbors!r} neighbors; a fit under "
            f"{neighbors!r} cannot be added to them: use the same neighbors or a new ledger"
        )


def check_asked(path: Path, state: State, asked: Parsed) -> None:
    """Refuse a ledger that is not what somebody wanted to make or open."""
    epsilon, delta = state.budget
    kept = {**state.first, "epsilon": epsilon, "delta": delta}
    if any(value is not None and value != kept[name] for name, value in asked.items()):
        raise LedgerError(
            f"the ledger at {path} has the budget epsilon={epsilon:g}, delta={delta:g}, "
            f"rule={kept['rule']!r}, unit={kept['unit']!r}, neighbors={kept['neighbors']!r}; open "
            "it with these, or with Ledger(path=...)"
        )


def overspent(state: State, epsilon: float, delta: float) -> BudgetExceeded:
    """What to say where the budget does not cover a charge."""
    left = state.left()
    rest = f"epsilon={float(left[0]):g}, delta={float(left[1]):g} left"
    if isinstance(state.rule, UnionRule):
        rest = f'{rest} by the sum, and its rule "union" does not cover the fit\'s releases either'
    return BudgetExceeded(
        f"the fit would cost epsilon={epsilon:g}, delta={delta:g}, but the ledger has {rest}; "
        "nothing was charged. Ask for less, or stop publishing about these records"
    )

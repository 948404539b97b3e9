"""What a theorem needs before it names a number of steps: the budget and how many records."""

import math

from sparsedp.privacy import PublicFacts


def planned_budget(public: PublicFacts) -> tuple[float, float]:
    """Epsilon and delta of the fit; raises ValueError where they are not known, or infinite."""
    epsilon, delta = public.epsilon, public.delta
    if epsilon is None or delta is None or not math.isfinite(epsilon):
        raise ValueError(
            "'theory' plans steps by epsilon and delta, which must be finite and known before the "
            "fit: give a number of steps"
        )
    return epsilon, delta


def planned_records(public: PublicFacts, declared: int | None, how: str) -> int:
    """Records to plan for: the declared number, or that of the data where it is public."""
    n_records = public.n_records if declared is None else declared
    if n_records is None:
        raise ValueError(
            "'theory' plans steps by the number of records, which add/remove protects: declare "
            f"how many to plan for, as in {how}, or give a number of steps"
        )
    return n_records

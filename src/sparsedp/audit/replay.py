"""Record every query of a fit, replay the answers on a neighbor, and compare: no statistics needed.

If a solver is honest, then with the same answers it asks the same questions on any data, and on a
neighbor no question moves by more than was declared. Both are checked to the last bit.
"""

from sparsedp.mechanisms.questions.question import Query
from sparsedp.mechanisms.scripted import ControlFlowChanged


def largest_movements(
    recorded: list[Query], replayed: list[Query], neighbors: str
) -> dict[str, float]:
    """Largest movement over declared sensitivity per kind of query; at most 1 if all is well."""
    if len(recorded) != len(replayed):
        raise ControlFlowChanged(f"{len(recorded)} queries became {len(replayed)}")
    ratios: dict[str, float] = {}
    for one, other in zip(recorded, replayed, strict=True):
        if (one.kind, one.declared, one.settings) != (other.kind, other.declared, other.settings):
            raise ControlFlowChanged(f"{one.kind} {one.settings} became {other.settings}")
        allowed = one.declared.under("add_remove" if neighbors == "add_remove" else "replace_one")
        moved = one.movement(other)
        ratio = moved / allowed if allowed else (0.0 if moved == 0 else float("inf"))
        ratios[one.kind] = max(ratios.get(one.kind, 0.0), ratio)
    return ratios

"""Solvers: each asks the curator for what its schedule says, and nothing else.

A new solver is one file and its note here, one line in ``BY_NAME`` and one in tests/cases.py.
"""

from collections.abc import Callable

from sparsedp.solvers.frank_wolfe import FrankWolfe
from sparsedp.solvers.screened import Screened
from sparsedp.solvers.solver import Solution, Solver
from sparsedp.solvers.sparsifier import Sparsifier

BY_NAME: dict[str, Callable[[], Solver]] = {
    "frank_wolfe": FrankWolfe,
    "screened": Screened,
    "sparsifier": Sparsifier,
}
"""Solvers that an estimator takes by name, with their defaults."""

__all__ = ["BY_NAME", "FrankWolfe", "Screened", "Solution", "Solver", "Sparsifier"]

"""The defaults that a law belongs to: where one of them changes, the law is fitted anew."""

import hashlib
import importlib
import pkgutil

import sparsedp.solvers.pursuit as family
from sparsedp.fit import plan as fit_plan

NUMBERS = (int, float, tuple)
APART = (f"{family.__name__}.inference", f"{family.__name__}.columns.cells")
"""Intervals, which are no default, and how much is computed at once."""


def constants() -> dict[str, str]:
    """Public constants of the default solver and of the rule that chooses its size."""
    names = [each.name for each in pkgutil.walk_packages(family.__path__, f"{family.__name__}.")]
    modules = [importlib.import_module(name) for name in names if not name.startswith(APART)]
    found = {}
    for module in (*modules, fit_plan):
        for name, value in vars(module).items():
            own = name.isupper() and not name.startswith("_")
            plain = isinstance(value, NUMBERS) or type(value).__name__ == "Shares"
            if own and plain:
                found[f"{module.__name__}.{name}"] = repr(value)
    return found


def fingerprint() -> str:
    """Of all of them together."""
    text = "\n".join(f"{name}={value}" for name, value in sorted(constants().items()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]

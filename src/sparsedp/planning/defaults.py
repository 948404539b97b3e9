"""The defaults that a law belongs to: where one of them changes, the law is fitted anew."""

import ast
import hashlib
import importlib
import inspect
import pkgutil
from types import ModuleType

import sparsedp.solvers.pursuit as family
from sparsedp.fit import plan as fit_plan

NUMBERS = (int, float, tuple)
APART = tuple(f"{family.__name__}.{name}" for name in ("inference", "columns.cells", "exact"))
"""Intervals, which are no default, how much is computed at once, and fits without noise, of which
the law takes one ceiling among others."""


def constants() -> dict[str, str]:
    """Public constants of the default solver and of the rule that chooses its size.

    Each counts in the module that defines it, so an import of one changes nothing.
    """
    names = [each.name for each in pkgutil.walk_packages(family.__path__, f"{family.__name__}.")]
    modules = [importlib.import_module(name) for name in names if not name.startswith(APART)]
    found = {}
    for module in (*modules, fit_plan):
        for name in _defined(module):
            value = getattr(module, name)
            plain = isinstance(value, NUMBERS) or type(value).__name__ == "Shares"
            if name.isupper() and not name.startswith("_") and plain:
                found[f"{module.__name__}.{name}"] = repr(value)
    return found


def _defined(module: ModuleType) -> list[str]:
    """Names that a module's own lines give a value."""
    lines = ast.parse(inspect.getsource(module)).body
    targets = [each for line in lines if isinstance(line, ast.Assign) for each in line.targets]
    targets += [line.target for line in lines if isinstance(line, ast.AnnAssign) and line.value]
    found = [each for target in targets for each in ast.walk(target)]
    return [each.id for each in found if isinstance(each, ast.Name)]


def fingerprint() -> str:
    """Of all of them together."""
    text = "\n".join(f"{name}={value}" for name, value in sorted(constants().items()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]

"""Pages of the public names, one per package, from ``__all__``: none can be forgotten."""

import importlib
import inspect
from pathlib import Path

PACKAGES = {
    "sparsedp": "The package",
    "sparsedp.estimators": "Estimators",
    "sparsedp.solvers": "Solvers",
    "sparsedp.losses": "Losses",
    "sparsedp.evaluation": "Private scores",
    "sparsedp.planning": "Planning",
    "sparsedp.release": "Models that are published",
    "sparsedp.privacy": "What releases cost",
}


def write_reference(folder: Path) -> int:
    """Write a page per package; a name of several is shown where it comes first."""
    folder.mkdir(parents=True, exist_ok=True)
    shown: dict[int, str] = {}
    total = 0
    for package, title in PACKAGES.items():
        module = importlib.import_module(package)
        entries: list[tuple[str, object]] = []
        elsewhere: list[str] = []
        constants: list[str] = []
        for name in sorted(module.__all__, key=str.casefold):
            value = getattr(module, name)
            if not callable(value):
                constants.append(f"``{name}``")
            elif id(value) in shown:
                elsewhere.append(f":py:obj:`~{shown[id(value)]}`")
            else:
                shown[id(value)] = f"{package}.{name}"
                entries.append((name, value))
        page = _page(package, title, entries, elsewhere, constants)
        (folder / f"{package}.rst").write_text(page, encoding="utf-8")
        total += len(module.__all__)
    return total


def _page(
    package: str,
    title: str,
    entries: list[tuple[str, object]],
    elsewhere: list[str],
    constants: list[str],
) -> str:
    lines = [title, "=" * len(title), "", f".. currentmodule:: {package}", ""]
    lines += [f"``from {package} import ...``", ""]
    if elsewhere:
        lines += ["Also here, under other headings: " + ", ".join(elsewhere) + ".", ""]
    if constants:
        lines += ["Constants: " + ", ".join(constants) + ".", ""]
    if entries:
        lines += [".. autosummary::", "", *(f"   {name}" for name, _ in entries), ""]
    for name, value in entries:
        lines += _entry(f"{package}.{name}", value)
    return "\n".join(lines)


def _entry(name: str, value: object) -> list[str]:
    if not inspect.isclass(value):
        return [f".. autofunction:: {name}", ""]
    if issubclass(value, BaseException):
        return [f".. autoexception:: {name}", ""]
    return [f".. autoclass:: {name}", "   :members:", ""]

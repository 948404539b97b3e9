"""From words on the command line to a solver object."""

import dataclasses
import typing
from collections.abc import Sequence
from typing import TypeAlias

from sparsedp.solvers import BY_NAME, Solver

Setting: TypeAlias = bool | int | float | str | None
"""What words on the command line can say."""


def build_solver(name: str, settings: Sequence[str] = (), calibration: str = "sound") -> Solver:
    """Make a solver by name, with settings such as "radius=10".

    Parameters
    ----------
    name : str
        A key of ``BY_NAME``.
    settings : sequence of str
        NAME=VALUE each. A name that a wrapper such as Sparsifier does not know belongs to the
        solver inside it.
    calibration : {"sound", "proven", "published"}
        Given to the solver and to the one inside it.
    """
    if name not in BY_NAME:
        raise ValueError(f"--solver must be one of {', '.join(sorted(BY_NAME))}, got {name!r}")
    solver = BY_NAME[name]()
    for setting in settings:
        field, equals, text = setting.partition("=")
        if not equals:
            raise ValueError(f"--set needs NAME=VALUE, got {setting!r}")
        solver = _with(solver, field.strip(), text.strip())
    if calibration != "sound":
        if "calibration" not in _types(solver):
            raise ValueError(f"the solver {name} has no {calibration} calibration")
        solver = _calibrated(solver, calibration)
    return solver


def described(solver: Solver) -> dict[str, object]:
    """Name and settings, as a privacy record has them."""
    settings = {name: getattr(solver, name) for name in _types(solver)}
    return {"name": type(solver).__name__} | {
        name: described(value) if dataclasses.is_dataclass(value) else value
        for name, value in settings.items()
    }


def _types(solver: Solver) -> dict[str, type]:
    """The settings of a solver, which is a dataclass, and what each of them takes."""
    if not dataclasses.is_dataclass(solver):
        raise TypeError(f"solvers are dataclasses, and {solver!r} is not")
    hints = typing.get_type_hints(type(solver))
    return {field.name: hints[field.name] for field in dataclasses.fields(solver)}


def _changed(solver: Solver, changes: dict[str, Setting | Solver]) -> Solver:
    if not dataclasses.is_dataclass(solver) or isinstance(solver, type):
        raise TypeError(f"solvers are dataclasses, and {solver!r} is not")
    return dataclasses.replace(solver, **changes)


def _with(solver: Solver, name: str, text: str) -> Solver:
    types = _types(solver)
    if name in types and name not in ("solver", "calibration"):
        return _changed(solver, {name: _value(name, text, types[name])})
    if "solver" in types:
        return _changed(solver, {"solver": _with(_inner(solver), name, text)})
    known = ", ".join(key for key in types if key not in ("solver", "calibration"))
    raise ValueError(f"--set {name}: {type(solver).__name__} has the settings {known}")


def _inner(solver: Solver) -> Solver:
    """The solver that a wrapper has inside."""
    return vars(solver)["solver"]


def _calibrated(solver: Solver, calibration: str) -> Solver:
    changes: dict[str, Setting | Solver] = {"calibration": calibration}
    if "solver" in _types(solver):
        changes["solver"] = _calibrated(_inner(solver), calibration)
    return _changed(solver, changes)


def _value(name: str, text: str, hint: type) -> Setting:
    """Read a value as the type that the field declares."""
    allowed = typing.get_args(hint) or (hint,)
    for kind, read in ((type(None), _none), (bool, _bool), (int, int), (float, float), (str, str)):
        if kind in allowed:
            try:
                return read(text)
            except ValueError:
                continue
    kinds = " or ".join(getattr(kind, "__name__", str(kind)) for kind in allowed)
    raise ValueError(f"--set {name} takes {kinds}, got {text!r}")


def _none(text: str) -> None:
    if text.lower() != "none":
        raise ValueError(text)


def _bool(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"

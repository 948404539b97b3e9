"""How docstrings are shown: types of attributes as written, nothing of scikit-learn's own."""

import re
from typing import Any

TYPE = re.compile(r":vartype (\w+): (.*)")
BARS = re.compile(r"``.*?``|(\|)")


def plain_types(
    app: Any, what: str, name: str, value: object, options: object, lines: list[str]
) -> None:
    """Types in brackets before what an attribute is, as words: as links they lead astray."""
    types = {found[1]: found[2] for line in lines if (found := TYPE.match(line))}
    kept = []
    for line in lines:
        if TYPE.match(line):
            continue
        for attribute, type_ in types.items():
            start = f":ivar {attribute}:"
            if line.startswith(start):
                line = f"{start} (*{type_.replace('*', '')}*) {line.removeprefix(start).strip()}"
        kept.append(line.rstrip())
    lines[:] = [line if line.lstrip().startswith((">>>", "...")) else _bars(line) for line in kept]


def _bars(line: str) -> str:
    """The bars of an absolute value, which the builder would take for a name to fill in."""
    return BARS.sub(lambda found: r"\|" if found[1] else found[0], line)


def skip(app: Any, what: str, name: str, value: object, skipped: bool, options: object) -> bool:
    """Leave out what scikit-learn's metadata routing adds to every estimator."""
    return skipped or (name.startswith("set_") and name.endswith("_request"))


def setup(app: Any) -> dict[str, bool]:
    """Register what this extension does, after napoleon has read the sections."""
    app.connect("autodoc-process-docstring", plain_types, priority=600)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

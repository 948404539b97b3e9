"""The figures of docs/architecture.md: ``python docs/sphinx/counts.py``.

Counts the tree (files, lines, functions, Any) and what one fit passes: functions, modules, depth.
"""

import ast
import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

SOURCE = Path(__file__).resolve().parents[2] / "src" / "sparsedp"


def functions(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Name and number of lines of every function; its docstring does not count."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            if body:
                signature = node.body[0].lineno - node.lineno
                yield node.name, signature + (body[-1].end_lineno or 0) - body[0].lineno + 1


def tree_lines() -> Iterator[str]:
    """What can be counted without running anything."""
    paths = sorted(SOURCE.rglob("*.py"))
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    sizes = {path: len(text.splitlines()) for path, text in texts.items()}
    yield f"files                {len(paths)}, {sum(sizes.values())} lines"
    yield f"lines of a file      median {statistics.median(sizes.values()):.0f}"
    yield "files above 300      " + (_named((p, n) for p, n in sizes.items() if n > 300) or "none")
    held = Counter(path.parent for path in SOURCE.rglob("*") if path.suffix in (".py", ".md"))
    folder, most = held.most_common(1)[0]
    yield f"fullest directory    {folder.relative_to(SOURCE)} with {most} files and notes"
    found = [
        (lines, f"{path.relative_to(SOURCE)}:{name}")
        for path, text in texts.items()
        for name, lines in functions(ast.parse(text))
    ]
    yield f"functions            {len(found)}, longest {max(found)[1]} with {max(found)[0]} lines"
    above = [f"{name} ({lines})" for lines, name in sorted(found, reverse=True) if lines > 60]
    yield f"functions above 60   {', '.join(above) or 'none'}"
    uses = Counter[str]()
    for path, text in texts.items():
        package = path.relative_to(SOURCE).parts[0]
        uses[package] += sum(bool(re.search(r"\bAny\b", line)) for line in text.splitlines())
    by_package = ", ".join(f"{name} {n}" for name, n in uses.most_common() if n)
    yield f"lines with Any       {sum(uses.values())}: {by_package}"


def _named(sizes: Iterator[tuple[Path, int]]) -> str:
    return ", ".join(f"{path.relative_to(SOURCE)} ({lines})" for path, lines in sizes)


def fit_lines() -> Iterator[str]:
    """What the first fit of a process passes, from its calibration to its record."""
    from sparsedp import SparseLogisticRegression
    from sparsedp.data.synthetic import wang_zhang

    made = wang_zhang(2000, 20, seed=0)
    model = SparseLogisticRegression(
        epsilon=1.0, delta=1e-5, bounds=made.bounds, classes=(0, 1), random_state=0
    )
    passed: set[tuple[str, str]] = set()
    depth = deepest = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal depth, deepest
        if not frame.f_code.co_filename.startswith(str(SOURCE)):
            return
        if event == "call":
            depth += 1
            deepest = max(deepest, depth)
            if frame.f_code.co_name != "<module>":
                passed.add((frame.f_code.co_filename, frame.f_code.co_qualname))
        elif event == "return":
            depth -= 1

    sys.setprofile(note)
    try:
        model.fit(made.X, made.y)
    finally:
        sys.setprofile(None)
    modules = {file for file, _ in passed}
    yield f"one fit passes       {len(passed)} functions in {len(modules)} modules, depth {deepest}"


if __name__ == "__main__":
    for line in (*tree_lines(), *fit_lines()):
        print(line)

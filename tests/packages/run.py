"""Build the source distribution and wheels, install each where nothing else is, and try it out.

``python -m tests.packages.run --pythons python3.11 python3.12``: every Python builds its own wheel,
then installs both, with and without a compiler. Dependencies come from pip's cache if it has them.
With ``--sdist FILE`` nothing but the standard library is needed.
"""

import argparse
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

from tests.packages.install import HEAD, Wrong, check_refusal, install, wheel_of
from tests.packages.tree import ROOT, copied, source_distribution

MOST = 1.5 * 2**20  # bytes of a wheel
COMPILED = (".so", ".pyd")


def check_wheel(wheel: Path) -> None:
    """Every kernel is in it, compiled, and nothing that does not belong to an install."""
    kernels = ROOT / "src" / "sparsedp" / "_kernels"
    wanted = {path.stem for path in kernels.rglob("*.pyx")} - {"checked"} | {"views"}
    with zipfile.ZipFile(wheel) as archive:
        names = [Path(name) for name in archive.namelist()]
    found = {name.name.partition(".")[0] for name in names if name.suffix in COMPILED}
    if found != wanted:
        raise Wrong(f"kernels {sorted(found ^ wanted)} are missing, or too many")
    tops = {name.parts[0].partition("-")[0] for name in names}
    if tops != {"sparsedp", "sparsedp_experiments"}:
        raise Wrong(f"a wheel with {sorted(tops)}")
    if wheel.stat().st_size > MOST:
        raise Wrong(f"a wheel of {wheel.stat().st_size} bytes: at most {MOST:.0f}")


def all_installs(python: str, sdist: Path, folder: Path, short: bool) -> list[str]:
    """Lines of the table for one Python: both packages, with and without a compiler."""
    wheel = wheel_of(python, sdist, folder)
    check_wheel(wheel)
    if not short:
        check_refusal(python, sdist, folder)
    rows = []
    for package, compiler in ((sdist, True), (wheel, False), (sdist, False), (wheel, True)):
        if short and (package == wheel) == compiler:
            continue
        home = folder / "environment"
        measured = install(python, package, compiler, home)
        rows.append(measured.row(package.stat().st_size))
        print(rows[-1], flush=True)
        shutil.rmtree(home)
    shutil.copy(wheel, ROOT / "dist")
    return rows


def main() -> int:
    """Run all of it, and write the table; failures are shown, and end with 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pythons", nargs="+", default=[sys.executable])
    parser.add_argument("--sdist", type=Path, help="one that exists, instead of a new one")
    parser.add_argument("--short", action="store_true", help="two installs per Python, not four")
    arguments = parser.parse_args()
    failed = 0
    rows = []
    (ROOT / "dist").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="packages-") as name:
        folder = Path(name)
        tree = folder / "tree"
        tree.mkdir()
        sdist = arguments.sdist or source_distribution(copied(tree), folder)
        if arguments.sdist is None:
            shutil.copy(sdist, ROOT / "dist")
        print(HEAD, flush=True)
        for python in arguments.pythons:
            try:
                rows += all_installs(python, sdist.resolve(), folder, arguments.short)
            except Wrong as error:
                failed += 1
                print(f"{python}: {error}", file=sys.stderr, flush=True)
    table = ROOT / "build" / "packages.md"
    table.parent.mkdir(exist_ok=True)
    table.write_text("\n".join([HEAD, *rows]) + "\n", encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

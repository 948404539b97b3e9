"""``make docs``: every page, note, example and docstring as one site in build/docs/site.

Pages are copied as they lie in the tree, so that a link that works on a forge works here too; any
warning, and so any link that leads nowhere, ends the build. Links to other sites are looked at for
their form only: the build needs no network.
"""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

from reference import write_reference

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "docs"
PAGES = BUILD / "pages"
SHOWN = (".md", ".png", ".svg", ".xz")
FOLDERS = ("benchmarks", "docs", "src")
SINGLE = ("CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md")
EXAMPLE = re.compile(r"\]\((?:\.\./)*examples/gallery/(?:(plot_\w+)\.py)?\)")
ELSEWHERE = re.compile(r"\]\((https?:[^)\s]*)\)")
WELL_FORMED = re.compile(r"https://[a-z0-9-]+(\.[a-z0-9-]+)+(/[^\s]*)?")


def copied() -> int:
    """Copy all pages and pictures, and the site's own pages to the top; returns how many."""
    own = Path(__file__).parent / "pages"
    found = {path: path.relative_to(own) for path in own.rglob("*") if path.suffix in SHOWN}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in SHOWN and own not in path.parents and path.parent.name != "templates":
                found[path] = path.relative_to(ROOT)
    found |= {ROOT / name: Path(name) for name in SINGLE}
    kept = set(found.values())
    for path in PAGES.rglob("*.md"):
        if path.relative_to(PAGES) not in kept:
            path.unlink()
    for path, place in found.items():
        (PAGES / place).parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            _write(PAGES / place, on_site(path))
        else:
            shutil.copyfile(path, PAGES / place)
    return len(found)


def on_site(path: Path) -> str:
    """A page's text: links to examples lead to what they show; ValueError for malformed links."""
    text = path.read_text(encoding="utf-8")
    for address in ELSEWHERE.findall(text):
        if not WELL_FORMED.fullmatch(address):
            raise ValueError(f"{path.relative_to(ROOT)}: malformed link {address}")
    return EXAMPLE.sub(lambda found: f"](/gallery/{found[1] or 'index'}.rst)", text)


def _write(path: Path, text: str) -> None:
    """Write what has changed, so that a second build reads only that."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def plain_formulas() -> list[str]:
    """Pages of notes in which a formula is still as it was typed."""
    code = re.compile(r"<(head|pre|code|script|style)\b.*?</\1>", re.DOTALL)
    notes = sorted((BUILD / "site" / "src").rglob("*.html"))
    return [
        str(note.relative_to(BUILD))
        for note in notes
        if re.search(r"[_^]\{|&lt;=|&gt;=", code.sub("", note.read_text(encoding="utf-8")))
    ]


def main() -> int:
    """Copy, then build; the exit code is that of the builder, or 1 for formulas as typed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-examples", action="store_true", help="do not run the gallery")
    parser.add_argument("--clean", action="store_true", help="build everything anew")
    arguments = parser.parse_args()
    if arguments.clean:
        shutil.rmtree(BUILD, ignore_errors=True)
    PAGES.mkdir(parents=True, exist_ok=True)
    print(f"{copied()} pages and pictures, {write_reference(PAGES / 'api')} names", flush=True)
    options = ["-D", "plot_gallery=0"] if arguments.no_examples else []
    sphinx = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", *options]
    folders = ["-c", Path(__file__).parent, "-d", BUILD / "trees", PAGES, BUILD / "site"]
    failed = subprocess.call([*sphinx, *map(str, folders)])
    garbled = plain_formulas()
    if garbled:
        print("formulas that are not typeset:", *garbled, sep="\n", file=sys.stderr)
    return failed or int(bool(garbled))


if __name__ == "__main__":
    sys.exit(main())

"""``make docs``: every page and note of the project as one site in build/docs/site.

Pages are copied as they lie in the tree, so that a link that works on a forge works here too; a
link that leads nowhere ends the build.
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "build" / "docs" / "pages"
SHOWN = (".md", ".png", ".svg", ".xz")
LEFT_OUT = (".", "build", "changes", "demo-model", "reproduction", "tests")


def copied() -> int:
    """Copy all pages and pictures below the root; returns how many."""
    shutil.rmtree(PAGES, ignore_errors=True)
    found = [
        path.relative_to(ROOT)
        for path in sorted(ROOT.rglob("*"))
        if path.suffix in SHOWN and not path.relative_to(ROOT).parts[0].startswith(LEFT_OUT)
    ]
    for path in found:
        (PAGES / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, PAGES / path)
    return len(found)


def main() -> int:
    """Copy, then build; the exit code is that of the builder."""
    print(f"{copied()} pages and pictures", flush=True)
    settings = Path(__file__).parent / "mkdocs.yml"
    return subprocess.call(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", str(settings)]
    )


if __name__ == "__main__":
    sys.exit(main())

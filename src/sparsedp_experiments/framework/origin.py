"""Where results come from: the commit, versions and the machine, in origin.json beside them.

Every row of a trials.csv names a code, a digest of the sources that a fit can depend on;
origin.json says for each code which commit had it. Drawing, pages and the command line are not
part of it.
"""

import hashlib
import json
import platform
import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path

import sparsedp
from sparsedp_experiments.framework.registry import ROOT

NAME = "origin.json"
FITTING = (
    "_kernels",
    "data",
    "estimators",
    "fit",
    "losses",
    "mechanisms",
    "privacy",
    "sets",
    "solvers",
)
"""The packages of the library that take part in a fit."""


@cache
def code_version() -> str:
    """A digest of the library's source: trials of other versions are kept, but told apart."""
    root = Path(sparsedp.__file__).parent
    sources = [
        path
        for package in FITTING
        for end in ("py", "pyx", "h")
        for path in (root / package).rglob(f"*.{end}")
    ]
    digest = hashlib.sha256()
    for path in sorted(sources):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return "v" + digest.hexdigest()[:10]  # a letter first: not to be taken for a number


def commit() -> str:
    """The commit of a clone, marked where files were changed; else the installed version."""
    described = None
    if (ROOT.parents[1] / ".git").exists():
        described = subprocess.run(
            ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12"],
            capture_output=True,
            text=True,
            check=False,
        ).stdout.strip()
    return described or f"version {metadata.version('sparsedp')}"


def known(folder: Path) -> dict[str, dict[str, str]]:
    """What origin.json in a folder of results says, by code."""
    path = folder / NAME
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def note(folder: Path) -> None:
    """Write down where rows that are made now come from, unless that is known."""
    found = known(folder)
    if code_version() in found:
        return
    packages = ("sparsedp", "numpy", "scipy", "scikit-learn")
    found[code_version()] = {
        "commit": commit(),
        "python": platform.python_version(),
        **{package: metadata.version(package) for package in packages},
        "machine": f"{platform.system()} {platform.machine()}",
    }
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(found, indent=1, sort_keys=True) + "\n"
    (folder / NAME).write_text(text, encoding="utf-8")

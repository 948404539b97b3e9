"""A copy of the tree as a clone has it, and the source distribution that is made of it."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOP = ("setup.py", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE", "CHANGELOG.md")
BUILT = ("*.so", "*.pyd", "*.c", "*.egg-info", "__pycache__")


def copied(folder: Path) -> Path:
    """Copy what packages are made of, and nothing that an earlier build left behind."""
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns(*BUILT))
    for name in (*TOP, "CITATION.cff"):
        shutil.copy(ROOT / name, folder / name)
    return folder


def source_distribution(tree: Path, folder: Path) -> Path:
    """Have the build backend write it, as every installer would."""
    call = f"from setuptools import build_meta; build_meta.build_sdist({str(folder)!r})"
    done = subprocess.run([sys.executable, "-c", call], cwd=tree, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*.tar.gz")
    return path

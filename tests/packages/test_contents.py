"""What is in a source distribution and in a wheel: all that is needed, and nothing else.

`make packages` installs both; this looks at their files only, and compiles nothing.
"""

import re
import subprocess
import sys
import tarfile
import tomllib

import pytest
import yaml

from sparsedp import _kernels
from tests.packages.tree import ROOT, TOP, copied, source_distribution

NOT_IN_WHEELS = (".pyx", ".h", ".md")


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return copied(tmp_path_factory.mktemp("tree"))


@pytest.fixture(scope="module")
def sources(tree):
    return {path.relative_to(tree).as_posix() for path in (tree / "src").rglob("*.*")}


def test_the_source_distribution_has_every_source(tree, sources, tmp_path):
    with tarfile.open(source_distribution(tree, tmp_path)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert sources | set(TOP) <= names
    assert {name for name in names if name.endswith(".pyx")} >= {
        f"src/sparsedp/_kernels/{name.replace('.', '/')}.pyx"
        for name in _kernels._NAMES
        if name != "views"  # Cython's own
    }
    others = {name.split("/")[0] for name in names if name} - {"src", *TOP}
    assert others == {"CITATION.cff", "PKG-INFO", "setup.cfg"}


def test_a_wheel_has_all_but_sources_of_kernels_and_notes(tree, sources, tmp_path):
    command = [sys.executable, "setup.py", "-q", "build_py", "--build-lib", str(tmp_path)]
    subprocess.run(command, cwd=tree, check=True, capture_output=True)
    built = {f"src/{path.relative_to(tmp_path).as_posix()}" for path in tmp_path.rglob("*.*")}
    card = "src/sparsedp/release/templates/card.md"
    assert built == {name for name in sources if not name.endswith(NOT_IN_WHEELS)} | {card}


def test_one_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["dynamic"] == ["version"]
    citation = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    text = (ROOT / "src" / "sparsedp" / "__init__.py").read_text()
    assert citation is not None
    assert f'__version__ = "{citation[1]}"' in text
    assert recipe()["context"]["version"] == citation[1]


def recipe():
    return yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text())


def test_the_recipe_for_conda_asks_for_the_same():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    ours = {*project["project"]["dependencies"], f"python{project['project']['requires-python']}"}
    needs = {
        kind: {word.replace(" ", "") for word in words}
        for kind, words in recipe()["requirements"].items()
    }
    assert needs["run"] == ours
    assert {word.lower() for word in project["build-system"]["requires"]} <= needs["host"]
    assert recipe()["build"]["python"]["entry_points"] == ["sparsedp = sparsedp.cli:main"]
    assert project["project"]["scripts"] == {"sparsedp": "sparsedp.cli:main"}


def test_every_kernel_is_known():
    """One that is not listed could be missing and nobody would say so."""
    home = ROOT / "src" / "sparsedp" / "_kernels"
    found = {".".join(p.relative_to(home).with_suffix("").parts) for p in home.rglob("*.pyx")}
    # Cells of tables have a word of their own (schema/__init__.py); checked is for tests.
    assert found - {"schema.cells", "walk.checked"} | {"views"} == set(_kernels._NAMES)

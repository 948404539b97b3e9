"""Examples in docstrings run, and what users meet first has one."""

import doctest
import importlib
import inspect
from pathlib import Path

import pytest

import sparsedp
import sparsedp.release

SOURCE = Path(sparsedp.__file__).parent
MODULES = sorted(
    ".".join(("sparsedp", *path.relative_to(SOURCE).with_suffix("").parts))
    for path in SOURCE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)
SHOWN = (
    *("Bounds", "Holdout", "Ledger", "PrivateSearchCV", "Schema", "SchemaTransformer"),
    *("SparseLinearRegression", "SparseLogisticRegression", "SparsePoissonRegressor"),
    *("evaluate", "plan"),
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings_run(name):
    failed, tried = doctest.testmod(importlib.import_module(name), verbose=False)
    assert tried > 0
    assert failed == 0


@pytest.mark.parametrize("name", SHOWN)
def test_what_users_meet_first_has_an_example(name):
    assert ">>> " in (inspect.getdoc(getattr(sparsedp, name)) or "")


def test_a_wrong_example_would_be_noticed():
    test = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, 0)
    assert doctest.DocTestRunner(verbose=False).run(test, out=lambda text: None).failed == 1

"""Settings shared by all tests."""

import pytest
from hypothesis import settings

from sparsedp.solvers.pursuit import plan

# The same examples on every run: a failure in CI must be seen again at the desk.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")


# A long test that is started last is waited for: these come first, and short ones last.
LONG = (
    *("tests/ui/", "tests/papers/test_reproduce.py", "tests/api/test_distributed.py"),
    *("tests/api/test_demo.py", "tests/api/test_examples.py", "tests/faults/", "tests/fuzz/"),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests first, and otherwise as they are found."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))


@pytest.fixture
def chosen(monkeypatch):
    """Pursuit chooses features, however few there are: tests are quick with few."""
    monkeypatch.setattr(plan, "MOST_TOGETHER", 0)

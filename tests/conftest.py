"""Settings shared by all tests."""

import pytest
from hypothesis import settings

from sparsedp.solvers.pursuit import plan

# The same examples on every run: a failure in CI must be seen again at the desk.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")


@pytest.fixture
def chosen(monkeypatch):
    """Pursuit chooses features, however few there are: tests are quick with few."""
    monkeypatch.setattr(plan, "MOST_TOGETHER", 0)

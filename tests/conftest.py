"""Settings shared by all tests."""

from hypothesis import settings

# The same examples on every run: a failure in CI must be seen again at the desk.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")

"""Plain data, as files hold it."""

from typing import Any

Json = dict[str, object]
"""To be written, or not yet looked at."""

Parsed = dict[str, Any]
"""Read from a file or about to be: whoever takes a value out of it checks it."""

"""Plain data, as files hold it."""

from collections.abc import Mapping
from typing import Any

Plain = dict[str, object]
"""To be written, or not yet looked at."""

Parsed = dict[str, Any]
"""Read from a file or about to be: whoever takes a value out of it checks it."""

Stored = Mapping[str, Any]
"""A record as a file has it, only to be read."""

"""The hot loops, compiled where there was a compiler, else their NumPy reference.

Nothing in here knows what is private: arrays in, arrays out.
"""

import importlib.util
import os

_NAMES = (
    "account.compose",
    "crossed.crossed",
    "lasso.coordinate",
    "sums.entries",
    "sums.levels",
    "sums.norms",
    "sums.products",
    "sampling.sample",
    "sums.slopes",
    "views",  # what Cython needs for arrays, once for all kernels
    "walk.kernel",
)

ASKED_FOR_REFERENCE: bool = os.environ.get("SPARSEDP_BACKEND") == "reference"
"""Whether somebody wants the slow ones."""

COMPILED: bool = not ASKED_FOR_REFERENCE and all(
    importlib.util.find_spec(f"sparsedp._kernels.{name}") is not None for name in _NAMES
)
"""Whether the compiled kernels are used (``SPARSEDP_BACKEND=reference`` forces the NumPy ones)."""

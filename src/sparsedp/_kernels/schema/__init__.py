"""Loops over raw cells: numbers in text, texts that were seen before, columns of zeros and ones."""

import importlib.util

from sparsedp import _kernels

COMPILED: bool = (
    _kernels.COMPILED and importlib.util.find_spec("sparsedp._kernels.schema.cells") is not None
)
"""Whether the compiled loops are used."""

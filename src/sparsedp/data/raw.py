"""What users hand in, before the gate: the one place where types end.

Tables and columns come from NumPy, SciPy, pandas, polars, Arrow or Dask, or are plain lists. Not
all of these are installed, most carry no types, and a cell may hold anything at all.
"""

from collections.abc import Hashable
from typing import Any

from numpy.typing import NDArray

RawTable = Any
"""Records by row: an array, a sparse matrix, a data frame or nested sequences."""

RawColumn = Any
"""One cell per record: an array, a series or a sequence."""

RawArray = NDArray[Any]
"""An array of whatever type its container chose."""

Cells = RawArray | list[object]
"""A column that its container typed, or single cells."""

Label = Hashable
"""A declared class or category."""

Module = Any
"""An optional package, or an object of one, that is loaded where it is used."""

Unchecked = Any
"""What a JSON or TOML file holds; whoever reads it checks it."""

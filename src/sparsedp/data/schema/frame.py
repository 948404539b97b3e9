"""Tables with named columns, of whatever library, some records at a time.

Only the type of a column's container is looked at here, never a cell.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsedp.data.gate.containers import cells_of
from sparsedp.data.gate.table import column_names
from sparsedp.data.raw import Cells, Module, RawColumn, RawTable
from sparsedp.data.schema.kinds.checks import near

ARROW_DATES = ("date", "timestamp")


MOST_DISTINCT = 1 << 14
"""Different texts up to which a column is read text by text instead of record by record."""

PROBED = 1 << 12
"""Records whose different texts tell whether that is worth while."""


@dataclass(frozen=True, eq=False, repr=False)
class Coded:
    """A column of text in which few different cells occur; private.

    Parameters
    ----------
    distinct : list
        The cells that occur, and None.
    codes : ndarray of shape (n,)
        Which of them each record has.
    """

    distinct: list[object]
    codes: NDArray[np.int32]


@dataclass(frozen=True, eq=False, repr=False)
class Frame:
    """A table of pandas, polars or Arrow, a dict of columns, or what a reader of files gives.

    Parameters
    ----------
    names : tuple of str
    n_rows : int
        Private.
    source : table or mapping
        Columns by name.
    """

    names: tuple[str, ...]
    n_rows: int
    source: RawTable

    @classmethod
    def of(cls, table: RawTable) -> "Frame":
        """Look at names and lengths alone."""
        if isinstance(table, Frame):
            return table
        names = names_of(table)
        if isinstance(table, Mapping):
            lengths = {len(column) for column in table.values()}
            if len(lengths) > 1:
                raise ValueError("The columns of the table differ in length.")
            return cls(names or (), max(lengths, default=0), table)
        if names is None:
            raise ValueError(
                f"A schema needs named columns, and {type(table).__name__} has none: pass a data "
                "frame of pandas or polars, an Arrow table or a dict of columns."
            )
        return cls(names, int(table.shape[0]), table)

    def column(self, name: str) -> RawColumn:
        """A column as its container has it."""
        if name not in self.names:
            raise ValueError(f"The table has no column {name!r}{near(name, self.names)}.")
        return self.source[name]

    def coded(self, name: str) -> Coded | None:
        """A column of text that Arrow holds, by its different cells, if these are few."""
        texts = _arrow_texts(self.column(name))
        if texts is None or self.n_rows < 4 * PROBED:
            return None
        if len(texts.slice(0, PROBED).unique()) > PROBED * 7 // 8:
            return None
        if type(texts).__name__ == "ChunkedArray":
            texts = texts.combine_chunks()
        found = texts.dictionary_encode()
        if len(found.dictionary) > min(MOST_DISTINCT, self.n_rows // 2):
            return None
        codes = found.indices.fill_null(len(found.dictionary)).to_numpy(zero_copy_only=False)
        return Coded([*found.dictionary.to_pylist(), None], codes)

    def block(self, name: str, start: int, stop: int, *, dates: bool) -> Cells:
        """Some cells of a column: typed numbers or dates, or single cells."""
        part = sliced(self.column(name), start, stop)
        if isinstance(part, list):
            return part
        found = dates_of(part)
        if found is not None and not dates:
            raise ValueError(f'column {name!r} holds dates: declare kind = "date", or drop = true')
        if found is not None:
            return found
        if isinstance(part, np.ndarray) and part.dtype.kind in "US":
            raise ValueError(
                f"column {name!r} is an array of text, which NumPy makes of all cells where one "
                "is: pass a list, an object array or a data frame"
            )
        if isinstance(part, np.ndarray) and part.ndim != 1:
            raise ValueError(f"column {name!r} must have one cell per record")
        try:
            return cells_of(part)
        except ValueError as error:
            problem = str(error)  # about a type
        raise ValueError(f"column {name!r} {problem}")


def names_of(table: RawTable) -> tuple[str, ...] | None:
    """Names of a table's columns, which are public; None if it has none."""
    columns = getattr(table, "columns", None)
    mapping = columns if isinstance(columns, Mapping) else table
    names = list(mapping) if isinstance(mapping, Mapping) else column_names(table)
    if names is None:
        return None
    return tuple(name for name in names if isinstance(name, str))


def sliced(column: RawColumn, start: int, stop: int) -> RawColumn:
    """Some cells of a column, in its own container."""
    match type(column).__module__.partition(".")[0]:
        case "pandas":
            return column.iloc[start:stop]
        case "pyarrow":
            return column.slice(start, stop - start)
        case "builtins":
            return list(column[start:stop])
        case _:
            return column[start:stop]


def dates_of(column: RawColumn) -> Cells | None:
    """The cells of a column whose container holds dates, by its own clock; None of any other."""
    dtype = getattr(column, "dtype", None)
    match type(column).__module__.partition(".")[0]:
        case "pandas":
            arrow = getattr(dtype, "pyarrow_dtype", None)
            if str(arrow).startswith(ARROW_DATES):
                return _arrow_dates(_arrow("pyarrow").array(column.array))
            if getattr(dtype, "kind", "") != "M":
                return None
            zoned = getattr(dtype, "tz", None) is not None
            naive = column.dt.tz_localize(None) if zoned else column
            dates: Cells = naive.to_numpy()
            return dates
        case "polars":
            if str(dtype).partition("(")[0] not in ("Date", "Datetime"):
                return None
            naive = column.dt.replace_time_zone(None) if getattr(dtype, "time_zone", 0) else column
            dates = naive.to_numpy()
            return dates
        case "pyarrow":
            return _arrow_dates(column)
    if isinstance(column, np.ndarray) and column.dtype.kind == "M":
        return np.ma.filled(column, np.datetime64("NaT")) if _masked(column) else column
    return None


def _arrow_texts(column: RawColumn) -> RawColumn | None:
    """The texts of a column, if Arrow holds them."""
    match type(column).__module__.partition(".")[0]:
        case "pandas":
            if getattr(column.dtype, "storage", None) == "pyarrow":  # of texts alone
                return column.array.__arrow_array__()
        case "pyarrow":
            if str(column.type) in ("string", "large_string"):
                return column
    return None


def _masked(column: RawColumn) -> bool:
    return isinstance(column, np.ma.MaskedArray)


def _arrow(name: str) -> Module:
    return importlib.import_module(name)  # only for tables of Arrow, which come with it


def _arrow_dates(column: RawColumn) -> Cells | None:
    kind = str(column.type)
    if not kind.startswith(ARROW_DATES):
        return None
    if getattr(column.type, "tz", None) is not None:
        column = _arrow("pyarrow.compute").local_timestamp(column)
    chunked = type(column).__name__ == "ChunkedArray"
    dates: Cells = column.to_numpy() if chunked else column.to_numpy(zero_copy_only=False)
    return dates

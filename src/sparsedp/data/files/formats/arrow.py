"""Arrow files and streams (.arrow, .feather), and columns that Arrow types; needs pyarrow."""

import importlib
import struct
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from sparsedp.data.files.formats.counted import Counted
from sparsedp.data.files.formats.how import How
from sparsedp.data.files.limits import limits
from sparsedp.data.files.location import Location
from sparsedp.data.files.opened import parsing
from sparsedp.data.files.raw_columns import RawColumns
from sparsedp.data.gate.table import INDEX
from sparsedp.data.raw import Module, RawColumn

KIND = "an Arrow file"
MAGIC = b"ARROW1\0\0"
"""A file is a stream with this before it and an index behind."""

DICTIONARY, BATCH = 2, 3
"""Kinds of messages that hold buffers."""


def names(location: Location, how: How) -> list[str]:
    """The columns, without the index of a pandas table."""
    with _stream(location) as stream, parsing(location, KIND):
        found = pyarrow("pyarrow.ipc").open_stream(stream).schema.names
    return kept(found, location)


def blocks(location: Location, how: How, wanted: Sequence[str], rows: int) -> Generator[RawColumns]:
    """Batches as the file has them, cut to `rows`."""
    ipc, counted = pyarrow("pyarrow.ipc"), Counted(location)
    with _stream(location) as stream, parsing(location, KIND):
        for message in ipc.MessageReader.open_stream(stream):
            counted.add(unpacked_size(message))
    counted = Counted(location)
    with _stream(location) as stream:
        with parsing(location, KIND):
            batches = iter(ipc.open_stream(stream))
        while True:
            with parsing(location, KIND):
                batch = next(batches, None)
                if batch is None:
                    return
                counted.add(8 * batch.num_rows * (batch.num_columns + 1))
                batch.validate(full=True)
            for start in range(0, max(1, batch.num_rows), rows):
                yield typed_columns(batch.slice(start, rows), wanted, location)


def typed_columns(table: Module, wanted: Sequence[str], location: Location) -> RawColumns:
    """Columns of an Arrow table or batch: arrays as they are, repeated values as shared cells."""
    with parsing(location, KIND):
        columns = {name: _cells(table.column(name), Counted(location)) for name in wanted}
    return RawColumns(tuple(wanted), columns, table.num_rows)


def kept(found: Sequence[str], location: Location) -> list[str]:
    """Names without the index of a pandas table."""
    limits().check("columns", len(found), str(location))
    return [name for name in found if not INDEX.fullmatch(name)]


def pyarrow(module: str) -> Module:
    """The package or a module of it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError(
            'Parquet and Arrow files need pyarrow: python -m pip install "sparsedp[parquet]"'
        ) from None


def _cells(column: RawColumn, counted: Counted) -> RawColumn:
    """A column as it is, unless its type lets a few bytes stand for millions of cells."""
    arrow, compute = pyarrow("pyarrow"), pyarrow("pyarrow.compute")
    if isinstance(column, arrow.Array):
        column = arrow.chunked_array([column])
    kind = column.type
    if arrow.types.is_run_end_encoded(kind):
        column = arrow.chunked_array([compute.run_end_decode(chunk) for chunk in column.chunks])
        kind = column.type
    if arrow.types.is_dictionary(kind):
        return [cell for chunk in column.chunks for cell in _shared(chunk)]
    if str(kind) in ("string_view", "binary_view"):
        counted.add(int(compute.sum(compute.binary_length(column)).as_py() or 0))
    return column


def _shared(chunk: RawColumn) -> list[object]:
    """Cells of an array that refers to a list of values; equal ones are one object."""
    values = chunk.dictionary.to_pylist()
    return [None if code is None else values[code] for code in chunk.indices.to_pylist()]


@contextmanager
def _stream(location: Location) -> Generator[Module]:
    arrow = pyarrow("pyarrow")
    with location.opened() as handle:
        if handle.peek(len(MAGIC)).startswith(MAGIC):
            handle.read(len(MAGIC))
        yield arrow.PythonFile(handle, mode="r")


def unpacked_size(message: Module) -> int:
    """Bytes that the buffers of a message say they unpack to; at least those that it has.

    Parsed from its metadata (a FlatBuffer), for Arrow itself unpacks whatever a file claims.
    """
    metadata, body = message.metadata.to_pybytes(), message.body
    if body is None:
        return len(metadata)
    root = _root(metadata)
    (kind,) = struct.unpack_from("<B", metadata, _field(metadata, root, 1))
    batch = _table(metadata, root, 2)
    if kind == DICTIONARY:
        batch = _table(metadata, batch, 1)
    if kind not in (DICTIONARY, BATCH) or not _offset(metadata, batch, 3):
        return int(body.size)  # no compression
    place = _table(metadata, batch, 2)
    (n_buffers,) = struct.unpack_from("<I", metadata, place)
    total = 0
    for start, length in struct.iter_unpack(
        "<qq", metadata[place + 4 : place + 4 + 16 * n_buffers]
    ):
        if length >= 8:
            (unpacked,) = struct.unpack("<q", body[start : start + 8].to_pybytes())
            total += max(unpacked, length)
    return total


def _root(data: bytes) -> int:
    return int.from_bytes(data[:4], "little")


def _offset(data: bytes, table: int, field: int) -> int:
    """Where a field is, from the beginning of its table; 0 if it is left out."""
    vtable = table - struct.unpack_from("<i", data, table)[0]
    size = struct.unpack_from("<H", data, vtable)[0]
    return struct.unpack_from("<H", data, vtable + 4 + 2 * field)[0] if 4 + 2 * field < size else 0


def _field(data: bytes, table: int, field: int) -> int:
    offset = _offset(data, table, field)
    if not offset:
        raise struct.error("a field is missing")
    return table + offset


def _table(data: bytes, table: int, field: int) -> int:
    """What a field refers to."""
    place = _field(data, table, field)
    return place + int.from_bytes(data[place : place + 4], "little")

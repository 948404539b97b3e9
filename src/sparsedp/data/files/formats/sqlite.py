"""Tables of an SQLite file by a query. Cells have types one by one, whatever a column says."""

import sqlite3
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from urllib.parse import quote

from sparsedp.data.files.formats.counted import Counted
from sparsedp.data.files.formats.how import How
from sparsedp.data.files.location import Location
from sparsedp.data.files.opened import BadFile
from sparsedp.data.files.raw_columns import RawColumns

LONGEST = 64 * 2**20
"""Bytes of a cell."""

READS = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION)
RECURSIVE = 33
"""SQLITE_RECURSIVE, which Python names from 3.12 on."""

BEFORE = "SELECT * FROM ({query}\n) LIMIT 0"
"""Has the names of a query and none of its records. The line ends a comment."""


def names(location: Location, how: How) -> list[str]:
    """The columns of the query."""
    with _connected(location) as connection:
        cursor = connection.execute(BEFORE.format(query=location.query))
        return [column[0] for column in cursor.description or ()]


def blocks(location: Location, how: How, wanted: Sequence[str], rows: int) -> Generator[RawColumns]:
    """All records, `rows` at a time."""
    counted = Counted(location)
    with _connected(location) as connection:
        cursor = connection.execute(location.query)
        header = [column[0] for column in cursor.description or ()]
        chosen = [header.index(name) for name in wanted]
        while True:
            taken = []
            for row in cursor:
                counted.add(sum(8 + (len(c) if isinstance(c, str | bytes) else 0) for c in row))
                taken.append([row[j] for j in chosen])
                if len(taken) == rows:
                    break
            yield RawColumns.of_rows(wanted, taken)
            if len(taken) < rows:
                return


@contextmanager
def _connected(location: Location) -> Generator[sqlite3.Connection]:
    """A connection that can only read, and believes nothing that a stranger's file defines."""
    assert location.path is not None
    if location.size == 0:
        raise BadFile(f"{location} is empty")
    address = f"file:{quote(str(location.path.absolute()))}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.text_factory = _text
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
            for setting in ("trusted_schema=OFF", "query_only=ON", "cell_size_check=ON"):
                connection.execute(f"PRAGMA {setting}")
            connection.set_authorizer(_only_reads)
            yield connection
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)
    else:
        return
    # SQLite's own words may quote a cell.
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        raise BadFile(f"{location} is damaged or no SQLite file") from None
    raise BadFile(
        f"{location}: SQLite cannot run the query; check the names of tables and columns, and that "
        "it is one SELECT"
    ) from None


def _only_reads(action: int, *_: object) -> int:
    allowed = action in READS or action == RECURSIVE
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _text(raw: bytes) -> str | bytes:
    """Text of a cell; bytes, which match nothing, where it is none."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw

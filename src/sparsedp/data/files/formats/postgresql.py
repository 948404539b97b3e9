"""Tables of a PostgreSQL server by a query; needs SQLAlchemy and psycopg.

What a server says about an error may quote a cell, and what SQLAlchemy adds quotes the query, so
none of it is passed on but the code of the error.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from sparsedp.data.files.formats.how import How
from sparsedp.data.files.location import Location
from sparsedp.data.files.opened import BadFile
from sparsedp.data.files.raw_columns import RawColumns, plain_cell
from sparsedp.data.raw import Module

SECONDS = 10
"""To wait for a connection, unless the URL says ``connect_timeout``."""

BEFORE = "SELECT * FROM ({query}\n) AS records LIMIT 0"
"""Has the names of a query and none of its records. The line ends a comment."""

WORDS = {
    "42601": "it is not one SELECT in SQL",
    "42P01": "there is no such table",
    "42703": "there is no such column",
    "42501": "this user may not read it",
    "25006": "it would change the database",
}
UNREADABLE = (
    "a value has no form in Python, such as a date that is infinite: turn that column into text in "
    "the query"
)


def names(location: Location, how: How) -> list[str]:
    """The columns of the query."""
    with _connected(location, 1) as connection:
        return list(connection.exec_driver_sql(BEFORE.format(query=location.query)).keys())


def blocks(location: Location, how: How, wanted: Sequence[str], rows: int) -> Generator[RawColumns]:
    """All records, `rows` at a time: the server keeps the others."""
    with _connected(location, rows) as connection:
        result = connection.exec_driver_sql(location.query)
        header = list(result.keys())
        chosen = [header.index(name) for name in wanted]
        n_taken = 0
        for some in result.partitions(rows):
            taken = [[plain_cell(row[j]) for j in chosen] for row in some]
            n_taken += len(taken)
            yield RawColumns.of_rows(wanted, taken)
        if not n_taken:
            yield RawColumns.of_rows(wanted, [])


@contextmanager
def _connected(location: Location, rows: int) -> Generator[Module]:
    """A connection that can only read."""
    try:
        import psycopg
        import sqlalchemy
        from sqlalchemy import exc
    except ImportError:
        raise ImportError(
            'PostgreSQL needs SQLAlchemy and psycopg: python -m pip install "sparsedp[sql]"'
        ) from None
    code: str | None = ""
    connected = False
    engine = None
    try:
        url = sqlalchemy.make_url(location.url).set(drivername="postgresql+psycopg")
        wait = {"connect_timeout": url.query.get("connect_timeout", SECONDS)}
        engine = sqlalchemy.create_engine(
            url, poolclass=sqlalchemy.NullPool, connect_args=wait, hide_parameters=True
        )
        options = {
            "postgresql_readonly": True,
            "stream_results": True,
            "max_row_buffer": rows,
            "no_parameters": True,
        }
        with engine.connect() as connection:
            connected = True
            yield connection.execution_options(**options)
        return
    except exc.DBAPIError as error:
        orig = error.orig
        code = orig.sqlstate if isinstance(orig, psycopg.Error) else None
    except (exc.SQLAlchemyError, psycopg.Error, ValueError, OverflowError) as error:
        if isinstance(error, BadFile):
            raise
        code = getattr(error, "sqlstate", None)
    finally:
        if engine is not None:
            engine.dispose()
    if not connected:
        raise BadFile(
            "no connection to the PostgreSQL server: check host, port, database, user and password"
        ) from None
    why = UNREADABLE if code is None else WORDS.get(code, f"SQLSTATE {code}")
    raise BadFile(f"the PostgreSQL server did not answer the query: {why}") from None

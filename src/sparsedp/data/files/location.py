"""Where records are: a file, standard input, or a query to a database.

A URL may hold a password and a query may name a person, so neither is shown by anything here.
"""

import io
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sparsedp.data.files.limits import limits
from sparsedp.data.files.opened import BadFile, opened, size_on_disk

STREAM = 4 * 2**30
"""Bytes that are taken from standard input, unless a limit is given."""

SCHEMES = {"sqlite": "sqlite", "postgresql": "postgresql", "postgres": "postgresql"}

HOW = (
    "write sqlite:///people.db?query=SELECT ... or postgresql://host/database?query=SELECT ... "
    "(query comes last; a percent sign in it is %25)"
)


@dataclass(frozen=True, repr=False)
class Location:
    """Where records are.

    Parameters
    ----------
    kind : {"file", "stream", "sqlite", "postgresql"}
    path : Path, optional
        Of a file.
    url : str
        Of a database server, without the query. May hold a password: shown nowhere.
    query : str
        In SQL.
    content : bytes, optional
        What standard input has given.
    """

    kind: str
    path: Path | None = None
    url: str = ""
    query: str = ""
    content: bytes | None = None

    @classmethod
    def of(cls, source: "str | Path | Location") -> "Location":
        """Read what users write: a path, "-" for standard input, or a URL with a query."""
        if isinstance(source, Location):
            return source
        text = os.fspath(source)
        if text == "-":
            return cls("stream")
        scheme, mark, _ = text.partition("://")
        if not mark or not scheme.replace("+", "").isalnum():
            return cls("file", Path(source))
        kind = SCHEMES.get(scheme.partition("+")[0].lower())
        if kind is None:
            raise ValueError(f"{scheme}:// is no kind of source that can be read: {HOW}")
        address, mark, query = text.partition("query=")
        if not mark or address[-1] not in "?&" or not query.strip():
            raise ValueError(f"a {kind} URL needs a query: {HOW}")
        try:
            query = unquote(query, errors="strict").strip().rstrip(";")
        except UnicodeDecodeError:
            raise ValueError(f"the query holds a percent sign: {HOW}") from None
        if kind == "postgresql":
            return cls(kind, url=address[:-1], query=query)
        path = unquote(urlsplit(address).path[1:])
        if not path:
            raise ValueError(f"a sqlite URL needs the path of a file: {HOW}")
        return cls(kind, Path(path), query=query)

    @property
    def name(self) -> str:
        """What may be written into a folder that is published: no path, no server, no query."""
        if self.path is not None:
            return self.path.name
        return "standard input" if self.kind == "stream" else f"{self.kind} query"

    @property
    def shown(self) -> str:
        """For messages to whoever gave it."""
        if self.path is not None:
            return str(self.path)
        return "standard input" if self.kind == "stream" else f"the {self.kind} query"

    def __str__(self) -> str:
        return self.shown

    def __repr__(self) -> str:
        return f"Location({self.name!r})"

    def loaded(self) -> "Location":
        """The same, with what standard input gives: it can be read only once."""
        if self.kind != "stream" or self.content is not None:
            return self
        most = limits().bytes or STREAM
        content = sys.stdin.buffer.read(most + 1)
        if len(content) > most:
            raise BadFile(
                f"standard input gives more than {most:,} bytes: raise the limit by --limit "
                "bytes=N, or save it in a file"
            )
        return replace(self, content=content)

    @property
    def size(self) -> int:
        """Bytes that a file takes on disk."""
        if self.path is not None:
            return size_on_disk(self.path)
        return len(self.content or b"")

    @contextmanager
    def opened(self, *, whole: bool = False) -> Generator[io.BufferedReader]:
        """The bytes of a file or of standard input, within the limits."""
        if self.path is not None:
            with opened(self.path, whole=whole) as handle:
                yield handle
        else:
            yield io.BufferedReader(io.BytesIO(self.content or b""))

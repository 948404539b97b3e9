"""Files from strangers: regular files only, within limits, and what is damaged gets one sentence.

Messages name the file and what to do. They never quote what is in it: that may be private.
"""

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import re
import stat
import struct
import tomllib
import warnings
import zipfile
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sparsedp.data.files.limits import TooMuch, limits
from sparsedp.data.raw import Unchecked

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

COMPRESSED = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
BUFFER = 1 << 17
LONGEST_LINE = 64 * 2**20

DOTTED = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){16}""")
"""Sixteen parts of a key and more; a schema has three."""

DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, csv.Error, struct.error, gzip.BadGzipFile),
    *(EOFError, UnicodeError, RecursionError),
)
"""What Python's own readers raise for files that are cut off or changed."""


TOO_MUCH = (
    "{path} unpacks to more than is expected of its size: if you know what is in it, raise the "
    "limit by --limit bytes=N (in Python by Limits(bytes=N).applied())"
)


class Stream(Protocol):
    """Bytes as they are, or unpacked on the way."""

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Fill a buffer; returns how many bytes there were."""
        ...


class BadFile(ValueError):
    """A file cannot be read; the message says why and quotes nothing."""


@contextmanager
def reading(path: object) -> Generator[None]:
    """Turn what readers of a damaged file raise into one sentence."""
    try:
        yield
    except DAMAGED:
        raise BadFile(f"{path} is damaged or cut off, or not of the kind that it claims") from None
    except (MemoryError, OverflowError):
        raise BadFile(f"{path} holds more than fits in memory") from None


@contextmanager
def parsing(path: object, kind: str) -> Generator[None]:
    """Around a reader of others, which may raise anything and quote a cell."""
    try:
        with reading(path), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what matters is an error; a warning may quote too
            yield
    except (BadFile, TooMuch, ImportError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise  # no such file, no permission
        raise BadFile(f"{path} cannot be read as {kind}: it is damaged or another kind") from None


def size_on_disk(path: Path) -> int:
    """Bytes that a regular file takes; anything else (a device, a pipe) is refused."""
    return _size(os.stat(path), path)


def _size(status: os.stat_result, path: Path) -> int:
    if stat.S_ISDIR(status.st_mode):
        raise BadFile(f"{path} is a folder, not a file")
    if not stat.S_ISREG(status.st_mode):
        raise BadFile(f"{path} is not a regular file: save what it yields in one, and give that")
    blocks = getattr(status, "st_blocks", None)
    # A file with holes is as long as it likes.
    return status.st_size if blocks is None else min(status.st_size, 512 * blocks + 4096)


@contextmanager
def opened(path: Path, *, whole: bool = False) -> Generator[io.BufferedReader]:
    """A file for reading, unpacked if its name says that it is compressed, within the limit.

    If the `whole` file will be read, it is unpacked once beforehand: a bomb or a damaged file is
    found in a second, before anything is made of it.
    """
    if whole and path.suffix.lower() in COMPRESSED:
        with opened(path) as file:
            while file.read(8 * BUFFER):
                pass
    # Without waiting: a pipe would wait for someone to write.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    size_on_disk(path)  # says what is wrong with a folder before it is opened
    with os.fdopen(os.open(path, flags), "rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        most = limits().of(_size(status, path))
        if status.st_size > most:
            raise BadFile(TOO_MUCH.format(path=path))
        kind = COMPRESSED.get(path.suffix.lower())
        stream: Stream = file if kind is None else kind(io.BufferedReader(file), "rb")
        with reading(path):
            yield io.BufferedReader(_Counted(stream, path, most), BUFFER)


class _Counted(io.RawIOBase):
    """Bytes of a stream up to a limit, counted as they are unpacked."""

    def __init__(self, stream: Stream, path: Path, most: int) -> None:
        self._stream, self._path, self._left = stream, path, most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        count = self._stream.readinto(buffer)
        self._left -= count
        if self._left < 0:
            raise BadFile(TOO_MUCH.format(path=self._path))
        return count


def read_text(path: Path, kind: str) -> str:
    """The text of a small file such as a model or a schema file."""
    most = limits().text
    with opened(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise BadFile(
            f"{path} is longer than {kind} can be; raise the limit of {most:,} bytes by "
            "--limit text=N"
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise BadFile(f"{path} is not {kind}: it is not UTF-8 text") from None


def read_toml(path: Path) -> dict[str, Unchecked]:
    """A TOML file as a dict."""
    return parse_toml(read_text(path, "a TOML file"), f"{path} is not a TOML file")


def parse_toml(text: str, problem: str) -> dict[str, Unchecked]:
    """TOML from text; `problem` begins the message if it is none."""
    if DOTTED.search(text):  # Python keeps every beginning of a key: a few bytes become gigabytes
        raise BadFile(f"{problem}: a key has too many dots")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadFile(f"{problem}: {error}") from None
    except RecursionError:
        raise BadFile(f"{problem}: it is nested too deeply") from None
    except ValueError:
        raise BadFile(f"{problem}: it holds a number or a date that is none") from None


def read_json(path: Path, kind: str) -> Unchecked:
    """A JSON file; numbers must be finite."""
    return parse_json(read_text(path, kind), str(path), kind)


def parse_json(text: str, where: str, kind: str) -> Unchecked:
    """JSON from text; `where` is its file, for messages."""

    def refuse(name: str) -> None:
        raise BadFile(f"{where} is not {kind}: it holds {name}")

    def once(pairs: list[tuple[str, Unchecked]]) -> dict[str, Unchecked]:
        found = dict(pairs)
        if len(found) < len(pairs):  # programs differ in which of two they believe
            raise BadFile(f"{where} is not {kind}: a name stands twice in an object")
        return found

    try:
        found = json.loads(text, parse_constant=refuse, object_pairs_hook=once)
        if "\\ud" in text.lower():  # half of a character may be escaped, but never written
            json.dumps(found, ensure_ascii=False).encode()
        return found
    except BadFile:
        raise
    except UnicodeEncodeError:
        raise BadFile(f"{where} is not {kind}: it holds half of a character") from None
    except RecursionError:
        raise BadFile(f"{where} is not {kind}: it is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise BadFile(f"{where} is not {kind}: {error}") from None
    except ValueError:
        raise BadFile(f"{where} is not {kind}: it holds a number of thousands of digits") from None

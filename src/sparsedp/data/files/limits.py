"""How much of a file is read at most: a small file must not fill the memory or the day."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace

FLOOR, RATIO = 64 * 2**20, 50
"""Unless a number is given, a file may unpack to this many bytes and this many times its size."""

CELLS_FLOOR = 512 * 2**20
"""The same for numbers that a Parquet file unpacks to, which repeats values at no cost."""


class TooMuch(ValueError):
    """There is more of something than the limits allow."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What files may hold; each can be raised (command line: ``--limit bytes=4e9``).

    Parameters
    ----------
    bytes : int, optional
        Of a file after unpacking. By default 64 MiB and 50 times its size on disk.
    columns : int
        With names.
    features : int
        Without names, as in LIBSVM and NPZ files.
    categories, classes : int
        Declared values of all text columns, and of the target.
    text : int
        Bytes of a model file, a schema file or other settings.

    Examples
    --------
    >>> from sparsedp.data.files.limits import Limits
    >>> with Limits(bytes=10**10).applied():
    ...     pass  # read_table("large.csv.xz", ...)
    """

    bytes: int | None = None
    columns: int = 1_000_000
    features: int = 100_000_000
    categories: int = 10_000
    classes: int = 10_000
    text: int = 64 * 2**20

    def of(self, size: int) -> int:
        """Bytes that a file of this size on disk may unpack to."""
        return FLOOR + RATIO * size if self.bytes is None else self.bytes

    def of_cells(self, size: int) -> int:
        """Bytes of numbers that a Parquet file of this size may unpack to."""
        return CELLS_FLOOR + RATIO * size if self.bytes is None else self.bytes

    def check(self, name: str, found: int, where: str) -> None:
        """Raise if there is more of something than is allowed."""
        most = getattr(self, name)
        if found > most:
            raise TooMuch(
                f"{where}: {name} are limited to {most:,}; raise it by --limit {name}=N (in Python "
                f"by Limits({name}=N).applied())"
            )

    def changed(self, name: str, value: str) -> "Limits":
        """The same with one limit as a user writes it."""
        names = [field.name for field in fields(self)]
        try:
            number = int(float(value))
        except (ValueError, OverflowError):
            number = 0
        if name not in names or number < 1:
            raise ValueError(f"--limit takes NAME=NUMBER with one of {', '.join(names)}")
        return replace(self, **{name: number})

    @contextmanager
    def applied(self) -> Generator[None]:
        """Files that are opened inside are read within these limits."""
        token = _CURRENT.set(self)
        try:
            yield
        finally:
            _CURRENT.reset(token)


DEFAULT = Limits()
_CURRENT: ContextVar[Limits] = ContextVar("limits", default=DEFAULT)


def limits() -> Limits:
    """The limits that apply now."""
    return _CURRENT.get()

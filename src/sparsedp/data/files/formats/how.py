"""What a file's name does not say about how it is written."""

from dataclasses import dataclass
from typing import Literal, get_args

Encoding = Literal["utf-8", "latin-1", "cp1252"]
ENCODINGS: tuple[Encoding, ...] = get_args(Encoding)


@dataclass(frozen=True)
class How:
    """Settings of a reader, which are public.

    Parameters
    ----------
    delimiter : str, optional
        Of a text file; by default the one of ``, ; tab |`` that is most frequent in the header.
    encoding : {"utf-8", "latin-1", "cp1252"}
        Of a text file.
    sheet : str, optional
        Of an Excel file; by default the first.
    """

    delimiter: str | None = None
    encoding: Encoding = "utf-8"
    sheet: str | None = None

"""Records as the verbs open them: tables with names, or matrices without."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from sparsedp.cli.declared.given import Given
from sparsedp.data.files.formats.how import Encoding
from sparsedp.data.files.location import Location
from sparsedp.data.files.open_raw import RawReader, format_of, open_raw
from sparsedp.data.files.readers import FORMATS

MATRICES = ("libsvm", "npz")
"""Formats that hold numbers without names, or with names beside them."""


TYPED = ("csv", "tsv", "excel")
"""Formats whose header is a line like any other."""


@dataclass(frozen=True)
class Source:
    """Where records are and how they are written, as the command line says it.

    Parameters
    ----------
    location : Location
    format, delimiter, sheet : str, optional
    encoding : str
    """

    location: Location
    format: str | None = None
    delimiter: str | None = None
    encoding: str = "utf-8"
    sheet: str | None = None

    @classmethod
    def given(cls, given: Given) -> "Source":
        """The data of a fit."""
        how = (given["file_format"], given["delimiter"], given["encoding"], given["sheet"])
        return cls(given["data"], *how)

    def __str__(self) -> str:
        return str(self.location)

    @property
    def path(self) -> Path:
        """Of a file."""
        if self.location.path is None:
            raise ValueError(f"{self.location}: give a file for this")
        return self.location.path

    @property
    def matrix(self) -> str | None:
        """Which format of a matrix this has, if any: that of a9a.svm.xz is libsvm."""
        path = self.location.path
        suffixes = [] if path is None else [suffix.lower() for suffix in path.suffixes]
        found = [FORMATS[suffix] for suffix in suffixes if FORMATS.get(suffix) in MATRICES]
        kind = self.format or (found[-1] if found else None)
        if kind in MATRICES and self.location.kind != "file":
            raise ValueError(f"{self.location}: --format {kind} is for files")
        return kind if kind in MATRICES else None

    @property
    def has_header(self) -> bool:
        """Whether the names of columns are known without records."""
        return self.matrix is None and format_of(self.location, self.format) != "jsonl"

    @property
    def first_line_names(self) -> bool:
        """Whether names are what stands in the first line, so that a record may stand there."""
        return self.matrix is None and format_of(self.location, self.format) in TYPED

    def table(self, columns: Sequence[str] | None = None) -> RawReader:
        """Open a table; packages that are not installed are asked for in one sentence."""
        try:
            return open_raw(
                self.location,
                self.format,
                columns,
                delimiter="\t" if self.delimiter == "\\t" else self.delimiter,
                encoding=cast("Encoding", self.encoding),
                sheet=self.sheet,
            )
        except ImportError as error:
            raise ValueError(str(error)) from None

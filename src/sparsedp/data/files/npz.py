"""NPZ files, read at the speed of the disk where their arrays are not compressed."""

import struct
import zipfile
from pathlib import Path
from types import TracebackType

from numpy.lib import format as npy

from sparsedp.data.files.limits import limits
from sparsedp.data.files.opened import TOO_MUCH, BadFile, reading, size_on_disk
from sparsedp.data.raw import RawArray

LOCAL_HEADER = 30
"""Bytes before the name of an entry in a ZIP file; its last two numbers are lengths to skip."""


class NpzFile:
    """The arrays of an NPZ file.

    ``np.load`` copies every array in small pieces through a check sum, which takes several times as
    long as reading it: too slow for files that are read in every pass.
    """

    def __init__(self, path: Path) -> None:
        most = limits().of(size_on_disk(path))
        with reading(path):
            self._archive = zipfile.ZipFile(path)
        if sum(entry.file_size for entry in self._archive.infolist()) > most:
            self._archive.close()
            raise BadFile(TOO_MUCH.format(path=path))
        self._file = open(path, "rb")  # noqa: SIM115
        self.names = {name.removesuffix(".npy") for name in self._archive.namelist()}

    def __enter__(self) -> "NpzFile":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()
        self._archive.close()

    def read(self, name: str) -> RawArray:
        """One array; Python objects are refused."""
        entry = self._archive.getinfo(f"{name}.npy")
        if entry.compress_type != zipfile.ZIP_STORED:
            with self._archive.open(entry) as stream:
                return npy.read_array(stream, allow_pickle=False)
        self._file.seek(entry.header_offset)
        skipped = sum(struct.unpack_from("<HH", self._file.read(LOCAL_HEADER), LOCAL_HEADER - 4))
        self._file.seek(entry.header_offset + LOCAL_HEADER + skipped)
        return npy.read_array(self._file, allow_pickle=False)

"""A count of what a file unpacks to: some formats repeat a value at no cost."""

from sparsedp.data.files.limits import limits
from sparsedp.data.files.location import Location
from sparsedp.data.files.opened import TOO_MUCH, BadFile


class Counted:
    """Bytes that came out of a file so far; beyond what its size allows it is refused."""

    def __init__(self, location: Location) -> None:
        self._path, self._left = location.shown, limits().of_cells(location.size)

    def add(self, n_bytes: int) -> None:
        """Count some more."""
        self._left -= n_bytes
        if self._left < 0:
            raise BadFile(TOO_MUCH.format(path=self._path))

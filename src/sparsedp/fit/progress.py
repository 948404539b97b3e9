"""A line on stderr that counts releases, and says when records are being read.

Nothing here depends on the number of records: logs travel further than the data.
"""

import sys
import time


class Progress:
    """Called with the number of releases so far; writes at most ten times a second.

    Parameters
    ----------
    total : int or None
        Releases in all, which is public.
    shown : bool
    """

    def __init__(self, total: int | None, shown: bool) -> None:
        self.total, self.shown, self.last = total, shown, 0.0
        self._done, self._reading, self._line = 0, "", ""

    def __call__(self, done: int) -> None:
        self._done, self._reading = done, ""
        self._write(last=done == self.total)

    def reading(self) -> None:
        """Called whenever a block of records was read."""
        self._reading = ", reading records"
        self._write(last=False)

    def _write(self, *, last: bool) -> None:
        now = time.monotonic()
        if not self.shown or (now - self.last < 0.1 and not last):
            return
        if self.total is None:
            text = f"{self._done} steps"
        else:
            filled = round(30 * self._done / self.total)
            text = f"[{'#' * filled}{'.' * (30 - filled)}] {self._done}/{self.total} releases"
        # Blanks cover what is left of a longer line.
        line = f"\r{text}{self._reading:<17}" + ("\n" if last else "")
        # Once only: in a log, copies of a line would tell how many blocks there are.
        if line != self._line:
            self.last, self._line = now, line
            sys.stderr.write(line)
            sys.stderr.flush()

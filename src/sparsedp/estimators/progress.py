"""A line on stderr that counts releases and passes over the records."""

import sys
import time


class Progress:
    """Called with the number of releases so far; writes at most ten times a second."""

    def __init__(self, total: int | None, shown: bool) -> None:
        self.total, self.shown, self.last = total, shown, 0.0
        self._done, self._reading = 0, ""

    def __call__(self, done: int) -> None:
        self._done = done
        self._write(last=done == self.total)

    def reading(self, n_pass: int, n_done: int, n_blocks: int) -> None:
        """Called after every block of records that is not in memory."""
        self._reading = f", pass {n_pass}: block {n_done}/{n_blocks}"
        self._write(last=False)

    def _write(self, *, last: bool) -> None:
        now = time.monotonic()
        if not self.shown or (now - self.last < 0.1 and not last):
            return
        self.last = now
        if self.total is None:
            text = f"{self._done} steps"
        else:
            filled = round(30 * self._done / self.total)
            text = f"[{'#' * filled}{'.' * (30 - filled)}] {self._done}/{self.total} releases"
        # Blanks cover what is left of a longer line.
        sys.stderr.write(f"\r{text}{self._reading:<28}" + ("\n" if last else ""))
        sys.stderr.flush()

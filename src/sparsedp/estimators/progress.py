"""A line on stderr that counts releases."""

import sys
import time


class Progress:
    """Called with the number of releases so far; writes at most ten times a second."""

    def __init__(self, total: int | None, shown: bool) -> None:
        self.total, self.shown, self.last = total, shown, 0.0

    def __call__(self, done: int) -> None:
        now = time.monotonic()
        if not self.shown or (now - self.last < 0.1 and done != self.total):
            return
        self.last = now
        if self.total is None:
            text = f"{done} steps"
        else:
            filled = round(30 * done / self.total)
            text = f"[{'#' * filled}{'.' * (30 - filled)}] {done}/{self.total} releases"
        sys.stderr.write(f"\r{text}" + ("\n" if done == self.total else ""))
        sys.stderr.flush()

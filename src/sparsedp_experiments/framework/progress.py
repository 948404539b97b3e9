"""Trials left and time left, on stderr: a bar where rich is installed, plain text elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol


class Bar(Protocol):
    """Told after every trial."""

    def step(self, done: int) -> None:
        """So many are done."""
        ...


class PlainBar:
    """A line that is written over; in a file, a line now and then."""

    def __init__(self, name: str, total: int) -> None:
        self.name, self.total = name, total
        self.start = self.shown = time.monotonic()
        self.live = sys.stderr.isatty()

    def step(self, done: int) -> None:
        """Show it."""
        now = time.monotonic()
        if not self.live and done < self.total and now - self.shown < 60:
            return
        self.shown = now
        left = (now - self.start) / max(done, 1) * (self.total - done)
        end = "\n" if done == self.total or not self.live else ""
        start = "\r" if self.live else ""
        print(
            f"{start}{self.name}: {done} of {self.total} trials, {clock(left)} left  ",
            end=end,
            file=sys.stderr,
            flush=True,
        )


class RichBar:
    """A bar of rich."""

    def __init__(self, progress: Any, task: Any) -> None:
        self.progress, self.task = progress, task

    def step(self, done: int) -> None:
        """Show it."""
        self.progress.update(self.task, completed=done)


@contextmanager
def progress_bar(name: str, total: int) -> Iterator[Bar]:
    """A bar for this many trials."""
    try:
        from rich import progress as rich
        from rich.console import Console
    except ImportError:
        yield PlainBar(name, total)
        return
    console = Console(stderr=True)
    if not console.is_terminal:
        yield PlainBar(name, total)
        return
    columns = (
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.TextColumn("{task.completed} of {task.total} trials,"),
        rich.TimeRemainingColumn(),
        rich.TextColumn("left"),
    )
    with rich.Progress(*columns, console=console) as shown:
        yield RichBar(shown, shown.add_task(name, total=total))


def clock(seconds: float) -> str:
    """Hours, minutes and seconds."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"

"""What is said when a fit does not end well: whether the budget was charged, and how to go on."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType
from typing import TYPE_CHECKING, TypeAlias

import click

from sparsedp.cli import Stopped
from sparsedp.cli.folder.output import Output

if TYPE_CHECKING:
    from sparsedp.privacy import Ledger

NOTHING = "Nothing was charged."
Handler: TypeAlias = Callable[[int, FrameType | None], None] | signal.Handlers


class Unfinished(click.ClickException):
    """A fit that failed after it was charged."""

    exit_code = 1


@contextmanager
def accounted(output: Output, *ledgers: "Ledger | None") -> Iterator[None]:
    """Say how things stand if what runs inside is stopped or fails, and leave nothing half done."""
    before = [(ledger, len(ledger.history())) for ledger in ledgers if ledger is not None]
    try:
        yield
    except BaseException as error:
        with _deaf():
            charged = [ledger for ledger, lines in before if len(ledger.history()) > lines]
            sentence = _standing(output, charged)
            if not output.stored:
                output.discard()
        if isinstance(error, KeyboardInterrupt):
            raise Stopped(f"Stopped. {sentence}") from None
        if isinstance(error, click.ClickException) or sentence == NOTHING:
            raise
        if isinstance(error, OSError | ValueError | MemoryError):  # 2 would say: not charged
            raise Unfinished(f"{' '.join(str(error).split())}. {sentence}") from error
        click.echo(sentence, err=True)
        raise
    finally:
        output.release()


def _standing(output: Output, charged: "list[Ledger]") -> str:
    if output.placed:
        return f"The model is in {output.shown}, whole."
    if output.stored:
        return (
            "The model is stored: 'sparsedp fit --resume -o "
            f"{output.shown}' finishes it at no charge."
        )
    if charged:
        shown = " and ".join(f"'sparsedp ledger {ledger.path}'" for ledger in charged)
        return (
            f"The budget was charged and there is no model: {shown} shows the charge, and another "
            "fit is charged again."
        )
    return NOTHING


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait for what takes milliseconds and must not be cut in two."""
    waiting: list[int] = []

    def wait(number: int, frame: FrameType | None) -> None:
        waiting.append(number)

    with _handled(wait):
        yield
    if waiting:
        raise KeyboardInterrupt


def _deaf() -> AbstractContextManager[None]:
    """Ignore Ctrl-C where one has already been heard."""
    return _handled(signal.SIG_IGN)


@contextmanager
def _handled(handler: Handler) -> Iterator[None]:
    """Put a handler in place of Ctrl-C's, in the main thread, which alone hears it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)

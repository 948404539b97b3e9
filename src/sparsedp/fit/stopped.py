"""What is said when a fit stops after its budget was charged, and what is not said."""

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import sparsedp
from sparsedp.data.blocks.admit import LostBlock

Found = TypeVar("Found")

CHARGED = (
    "The fit has stopped: its budget was already charged, and nothing was released. Remove the "
    "cause (give it more memory or smaller blocks; leave files where every worker finds them, and "
    "as they are) and fit again, which is charged again"
)


def after_charge(work: Callable[[], Found]) -> Found:
    """Do what follows a charge; whatever stops it says that the budget is gone.

    Parameters
    ----------
    work : callable
        Without arguments.

    Returns
    -------
    object
        What the work gives.

    Raises
    ------
    Exception
        Of the type of the one that stopped the work, where such a one can be made of a sentence.

    Notes
    -----
    *Privacy.* The exception is a new one: it quotes no message of a library (which may name shapes
    or cells), and neither it nor a chain of others holds the frames where records were.
    """
    try:
        return work()
    except (Exception, KeyboardInterrupt) as error:
        stopped = _anew(error)
    raise stopped  # here, where no exception is being handled that it would be chained to


def _anew(error: BaseException) -> BaseException:
    """An exception of the same type that says what happened, and where in the library."""
    if isinstance(error, LostBlock):
        return LostBlock(f"{error}. {CHARGED}")
    said = f"{type(error).__name__}{_place(error)}. {CHARGED}"
    try:
        made = type(error)(said)
    except Exception:
        return RuntimeError(said)
    return made if isinstance(made, BaseException) else RuntimeError(said)


def _place(error: BaseException) -> str:
    """The last line of this library that an exception went through."""
    home = Path(sparsedp.__file__).parent
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if path.is_relative_to(home) and path != Path(__file__):
            return f" in {path.relative_to(home.parent).as_posix()}, line {frame.lineno}"
    return ""

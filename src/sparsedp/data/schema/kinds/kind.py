"""What a kind of raw column promises: which bounded columns it becomes, and how cells are read."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sparsedp.data.raw import Cells
from sparsedp.data.storage import Array

Mask = NDArray[np.bool_]

Writer = Callable[[Cells, Array], Mask]
"""Writes what cells become into an array (n, k); returns where there was no value to write.

Row i of the array and of the answer are a function of cell i and of the declaration. What is
written where there was no value is left to the caller, who fills it with a public row.
"""

INDICATOR = "indicator"
"""What ``missing`` says where missing cells have a 0/1 column of their own."""


@dataclass(frozen=True)
class Column:
    """A bounded column, public.

    Parameters
    ----------
    name : str
    lower, upper : float
    binary : bool
        Whether it holds only its bounds.
    neutral : float
        What stands where a cell has no value and none was declared for it.
    """

    name: str
    lower: float = 0.0
    upper: float = 1.0
    binary: bool = False
    neutral: float = 0.0


def indicator(name: str) -> Column:
    """A 0/1 column."""
    return Column(name, binary=True)


class Kind(Protocol):
    """How a raw column is declared; a frozen dataclass whose fields are the keys of its table."""

    @property
    def kind(self) -> str:
        """Its name in a schema file."""
        ...

    @property
    def missing(self) -> object:
        """What a missing cell is: "indicator", a value, or None, which makes it invalid."""
        ...

    @property
    def source(self) -> str | None:
        """Where the declaration comes from."""
        ...

    @property
    def holds_dates(self) -> bool:
        """Whether typed columns of dates are read; all other kinds refuse them."""
        ...

    @property
    def expects(self) -> str:
        """What cells must be, and what to declare if they are something else; for messages."""
        ...

    @property
    def width(self) -> int:
        """Number of columns, without the indicator of missing cells."""
        ...

    def columns(self, name: str) -> tuple[Column, ...]:
        """The columns that a raw column of this name becomes."""
        ...

    def writer(self) -> Writer:
        """A fresh reader of cells, which may remember what equal texts became."""
        ...

    def filled(self) -> Array | None:
        """The row (k,) that a missing cell becomes by declaration; None for a neutral one."""
        ...

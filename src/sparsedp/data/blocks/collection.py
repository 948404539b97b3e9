"""Dask collections as blocks of records: their chunks or partitions."""

from dataclasses import dataclass
from typing import NoReturn

from dask.delayed import Delayed

from sparsedp.data.blocks.admit import BlockGate, admitted
from sparsedp.data.dataset import Dataset
from sparsedp.data.gate import Invalid, column_names
from sparsedp.data.raw import Label, RawColumn, RawTable
from sparsedp.data.storage import is_sparse

LABEL = "a block of the Dask collection"


@dataclass(frozen=True, eq=False)
class CollectionSource:
    """A chunk or partition of Dask collections: features, and targets or the name of a column."""

    X: Delayed
    y: Delayed | None
    target: str | None
    columns: tuple[Label, ...] | None
    """Names of a data frame's columns, in their order; every partition must have the same."""
    groups: Delayed | None = None
    sample_weight: Delayed | None = None

    @property
    def label(self) -> str:
        """Not which chunk: that would tell how many there are."""
        return LABEL

    def read(self, invalid: Invalid = "raise") -> NoReturn:
        """Chunks stay on the workers; see `AdmitCollection`."""
        raise ValueError("chunks of a Dask collection are read by the workers of its cluster")


def collection_sources(
    X: RawTable,
    y: RawColumn,
    target: str | None,
    groups: RawColumn = None,
    sample_weight: RawColumn = None,
) -> tuple[tuple[CollectionSource, ...], int, bool, tuple[str, ...] | None]:
    """Cut Dask collections into chunks; also number, kind and names of the features."""
    if (y is None) == (target is None):
        raise ValueError("give y, or the name of the target column of a data frame")
    for name, column in (("y", y), ("groups", groups), ("sample_weight", sample_weight)):
        if column is not None and not callable(getattr(type(column), "to_delayed", None)):
            raise ValueError(
                f"X is a Dask collection and {name} is not: make {name} one that is cut like X, "
                f"for example dask.array.from_array({name}, chunks=X.chunks[0])"
            )
    names = column_names(X)
    if names is not None:
        if target is not None and target not in names:
            raise ValueError(f"the data frame has no column {target!r}")
        kept = [name for name in names if name != target]
        texts = tuple(name for name in kept if isinstance(name, str))
        named = texts if len(texts) == len(kept) else None
        features, n_features, has_zeros = X.to_delayed(), len(kept), False
    else:
        if target is not None:
            raise ValueError("a Dask array has no columns with names: give y instead of target")
        if X.ndim != 2:
            raise ValueError("X must have one row per record and one column per feature")
        X = X.rechunk({1: -1})
        features, n_features = X.to_delayed().ravel(), X.shape[1]
        named, has_zeros = None, is_sparse(X._meta)
    chunks = None if names is not None else X.chunks[0]
    cut = (_cut_alike(each, chunks, len(features)) for each in (y, groups, sample_weight))
    columns = None if names is None else tuple(names)
    sources = (
        CollectionSource(x, one, target, columns, who, weight)
        for x, one, who, weight in zip(features, *cut, strict=True)
    )
    return tuple(sources), n_features, has_zeros, named


def _cut_alike(
    column: RawColumn, chunks: tuple[float, ...] | None, n_parts: int
) -> list[Delayed | None]:
    """Parts of a column, one for each part of X."""
    if column is None:
        return [None] * n_parts
    if chunks is not None and not any(size != size for size in chunks):
        column = column.rechunk((chunks,))
    parts = list(column.to_delayed())
    if len(parts) != n_parts:
        raise ValueError("X and y are cut into different numbers of parts: cut them alike")
    return parts


@dataclass(frozen=True, eq=False)
class AdmitCollection:
    """Lets a chunk through the gate, on its worker."""

    gate: BlockGate
    target: str | None
    columns: tuple[Label, ...] | None
    given: tuple[str, ...]
    """What comes after the features: "y", "groups" and "sample_weight", as far as they are."""

    def __call__(self, X: RawTable, *others: RawColumn) -> Dataset:
        """A chunk of features, and of targets unless these are one of its columns."""
        named = dict(zip(self.given, others, strict=True))
        return admitted(lambda: self._admit(X, **named), LABEL)

    def _admit(
        self,
        X: RawTable,
        y: RawColumn = None,
        groups: RawColumn = None,
        sample_weight: RawColumn = None,
    ) -> Dataset:
        names = column_names(X)
        if (None if names is None else tuple(names)) != self.columns:
            raise ValueError(
                "its columns differ from those of the collection in name, number or order"
            )
        if self.target is not None:
            X, y = X.drop(columns=self.target), X[self.target]
        return self.gate.admit(X, y, groups, sample_weight)

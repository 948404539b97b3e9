"""Records that are read block by block: more than fit in memory, or spread over a cluster."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike

from sparsedp.data.blocks.admit import BlockGate, LostBlock
from sparsedp.data.blocks.blocked import BlockedDataset
from sparsedp.data.blocks.local import LocalBlocks, Machine
from sparsedp.data.blocks.persons import SIZE, placed, places_of, rows_of
from sparsedp.data.blocks.seal import CHANGED, Seal, Sealing
from sparsedp.data.blocks.sources import (
    ArraySource,
    NpzSource,
    Source,
    parquet_sources,
    table_sources,
)
from sparsedp.data.blocks.values import BlockValues
from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.data.files.folder import files_of
from sparsedp.data.files.open_raw import RawReader, open_raw
from sparsedp.data.gate import Invalid
from sparsedp.data.gate.entries import canonical
from sparsedp.data.raw import Label, Module, RawColumn, RawTable
from sparsedp.data.records import Watch
from sparsedp.data.schema import Schema
from sparsedp.data.storage import is_sparse
from sparsedp.data.sums.products import most_records

ROWS_PER_BLOCK = 100_000


@dataclass(frozen=True, eq=False, repr=False)
class RecordBlocks:
    """Records for ``fit`` that are never in memory all at once.

    Made by `from_arrays`, `from_npz`, `from_parquet`, `from_table` or `from_dask`; then
    ``clf.fit(records)``.

    Parameters
    ----------
    sources : sequence
        Where each block comes from; the order of blocks is part of the data.
    n_features : int
        Public, like whether features are sparse and their names.
    is_sparse : bool
    feature_names : tuple of str, optional
    n_threads : int
        Blocks that are in memory and worked on at the same time.
    memory : int
        Bytes to keep what was computed from blocks between passes over them.
    client : dask.distributed.Client, optional
        The cluster that reads the blocks and computes with them.
    schema : Schema, optional
        What made the features of raw columns.
    has_persons, has_weights : bool
        Whether every row comes with the id of a person, and with a weight.

    Notes
    -----
    *Privacy.* Every block passes the same gate as records in memory, each time it is read, and
    only sums over all records reach the curator. Workers send exact sums: they, the connections
    and the machine that fits must be as trusted as the data.
    """

    sources: tuple[Source, ...]
    n_features: int
    is_sparse: bool
    feature_names: tuple[str, ...] | None = None
    n_threads: int = 1
    memory: int = 2**30
    client: Module = None
    schema: Schema | None = None
    has_persons: bool = False
    has_weights: bool = False

    def __post_init__(self) -> None:
        if self.n_threads < 1:
            raise ValueError(f"n_threads must be at least 1, got {self.n_threads!r}")

    def __repr__(self) -> str:
        return f"RecordBlocks(n_features={self.n_features}, records private)"

    def __array__(self, *_: object, **__: object) -> NoReturn:
        raise TypeError(
            "RecordBlocks are for fit(records), with targets and never in memory all at once: to "
            "predict, give the features of one block after the other as an array"
        )

    @classmethod
    def from_arrays(
        cls,
        X: RawTable,
        y: RawColumn,
        *,
        groups: RawColumn = None,
        sample_weight: RawColumn = None,
        rows_per_block: int = ROWS_PER_BLOCK,
        n_threads: int = 1,
    ) -> "RecordBlocks":
        """Cut arrays into blocks of rows; meant for memory-mapped ones.

        Parameters
        ----------
        X : ndarray or CSR array
            Of shape (n, d), for example ``np.load("X.npy", mmap_mode="r")``.
        y : ndarray of shape (n,)
        groups : ndarray of shape (n,), optional
            The id of each row's person; a person may have rows in several blocks.
        sample_weight : ndarray of shape (n,), optional
        rows_per_block : int
        n_threads : int
        """
        _check_rows(rows_per_block)
        if is_sparse(X) and X.format != "csr":
            X = canonical(X).tocsr()  # SciPy would sum duplicates in an order of its own
        if getattr(X, "ndim", None) != 2 or getattr(y, "ndim", None) != 1 or len(y) != X.shape[0]:
            raise ValueError("X needs one row per record and y one entry per record, both arrays")
        n = X.shape[0]
        for each in (groups, sample_weight):
            if each is not None and (getattr(each, "ndim", None) != 1 or len(each) != n):
                raise ValueError("groups and sample_weight need one entry per row, both arrays")
        sources = tuple(
            ArraySource(X, y, start, min(start + rows_per_block, n), groups, sample_weight)
            for start in range(0, max(n, 1), rows_per_block)
        )
        made = cls(sources, X.shape[1], is_sparse(X), n_threads=n_threads)
        units = {"has_persons": groups is not None, "has_weights": sample_weight is not None}
        return replace(made, **units)

    @classmethod
    def from_npz(
        cls,
        source: str | Path | Sequence[str | Path],
        *,
        target: str = "y",
        groups: str | None = None,
        sample_weight: str | None = None,
        n_threads: int = 1,
    ) -> "RecordBlocks":
        """Read a folder of NPZ files, each a block; uncompressed ones are faster.

        Parameters
        ----------
        source : path or sequence of paths
            A folder (its .npz files and those of subfolders, by name), or files. Each holds X and
            y, or data, indices, indptr and shape of a CSR array and y, as in
            ``np.savez(path, data=A.data, indices=A.indices, indptr=A.indptr, shape=A.shape, y=y)``.
        target : str
            Which array is y.
        groups, sample_weight : str, optional
            Which arrays hold the ids of persons, and weights of rows.
        n_threads : int
        """
        paths = files_of(source, ".npz")
        sources = tuple(NpzSource(path, target, groups, sample_weight) for path in paths)
        n_features, is_sparse, names = sources[0].shape()
        made = cls(sources, n_features, is_sparse, names, n_threads=n_threads)
        units = {"has_persons": groups is not None, "has_weights": sample_weight is not None}
        return replace(made, **units)

    @classmethod
    def from_parquet(
        cls,
        source: str | Path | Sequence[str | Path],
        *,
        target: str,
        categories: Mapping[str, Sequence[Label]] | None = None,
        drop: Sequence[str] = (),
        rows_per_block: int = ROWS_PER_BLOCK,
        n_threads: int = 1,
    ) -> "RecordBlocks":
        """Read Parquet files by row groups.

        Parameters
        ----------
        source : path or sequence of paths
            A file, a folder (its .parquet files and those of subfolders, by name), or files.
        target : str
            The column to predict.
        categories : dict of str to sequence, optional
            Declared values of text columns, as in `read_table`.
        drop : sequence of str
            Columns to leave out.
        rows_per_block : int
            Row groups are taken together up to so many records; a larger one is a block by itself,
            so write files with ``row_group_size=100_000`` or so.
        n_threads : int
        """
        _check_rows(rows_per_block)
        paths = files_of(source, ".parquet")
        sources, plan = parquet_sources(paths, target, categories, drop, rows_per_block)
        names = plan.feature_names
        return cls(sources, len(names), False, names, n_threads=n_threads)

    @classmethod
    def from_table(
        cls,
        source: str | Path | RawReader,
        schema: Schema,
        *,
        rows_per_block: int = ROWS_PER_BLOCK,
        n_threads: int = 1,
    ) -> "RecordBlocks":
        """Read a raw table block by block: Parquet, CSV or JSON lines, encoded by a schema.

        Give the estimator ``bounds=schema.bounds``.

        Parameters
        ----------
        source : path or RawReader
            A file, or a folder of Parquet files; or what `open_raw` opened.
        schema : Schema
            What the columns hold; it must declare the target.
        rows_per_block : int
        n_threads : int
        """
        _check_rows(rows_per_block)
        reader = source if isinstance(source, RawReader) else open_raw(source)
        schema = schema.completed(reader.names)
        sources = table_sources(replace(reader, rows_per_block=rows_per_block), schema)
        names = schema.feature_names
        made = cls(sources, len(names), False, names, n_threads=n_threads, schema=schema)
        units = {"has_persons": schema.person is not None, "has_weights": schema.weight is not None}
        return replace(made, **units)

    @classmethod
    def from_dask(
        cls,
        X: RawTable,
        y: RawColumn = None,
        *,
        target: str | None = None,
        groups: RawColumn = None,
        sample_weight: RawColumn = None,
        client: Module = None,
    ) -> "RecordBlocks":
        """Take Dask collections: blocks are their chunks or partitions, and stay on the workers.

        Parameters
        ----------
        X : dask array or dask data frame
            An array is cut along rows only; its chunks may be SciPy sparse arrays.
        y : dask array or series, optional
            Cut like X. Not needed if `target` names a column of a data frame.
        target : str, optional
        groups, sample_weight : dask array or series, optional
            Ids of persons and weights of rows, cut like X.
        client : dask.distributed.Client, optional
            By default the current one.
        """
        from sparsedp.data.blocks.cluster import current_client
        from sparsedp.data.blocks.collection import collection_sources

        units = {"has_persons": groups is not None, "has_weights": sample_weight is not None}
        found = collection_sources(X, y, target, groups, sample_weight)
        return replace(cls(*found, client=client or current_client()), **units)

    def on(self, client: Module) -> "RecordBlocks":
        """Return the same blocks, read by the workers of a Dask cluster.

        Files must be where the workers find them under the same name.
        """
        return replace(self, client=client)

    def clip(
        self,
        bounds: Bounds | float | tuple[ArrayLike, ArrayLike],
        *,
        classes: RawColumn = (0, 1),
        target_bounds: tuple[float, float] | None = None,
        intercept: bool = True,
        invalid: Invalid = "raise",
        watch: Watch | None = None,
    ) -> BlockedDataset:
        """Let the blocks through the gate; see `Dataset.clip`.

        All of them are read once now, so that malformed records are found before anything is
        charged, and again in every pass; ``watch`` is told how far that has got.
        """
        gate = BlockGate(
            n_features=self.n_features,
            is_sparse=self.is_sparse,
            bounds=bounds,
            classes=classes,
            target_bounds=target_bounds,
            intercept=intercept,
            invalid=invalid,
            feature_names=self.feature_names,
            key=secrets.token_bytes(SIZE) if self.has_persons else None,
            weighting="sub_unit" if self.has_weights else "unit",
        )
        public = gate.empty_block()
        blocks, seals = self._checked(gate, watch)
        counts = [seal.n_records for seal in seals]
        if sum(counts) > most_records(self.n_features, public.row_norm):
            blocks.close()
            raise ValueError("too many records for the rounding of sums (summation.md): use fewer")
        if self.has_persons:
            told = places_of(blocks.each(rows_of))  # private
            blocks = blocks.derive(placed, blocks.given(told), kept=False)
            (nobody,) = places_of([rows_of(public)])
            public = placed(public, nobody)
        return BlockedDataset(blocks, public, counts)

    def _checked(self, gate: BlockGate, watch: Watch | None) -> tuple[BlockValues, list[Seal]]:
        try:
            return self._read(gate, watch)
        except LostBlock as error:
            lost = str(error)
        raise ValueError(lost)  # here, so that it holds no frame with records

    def _read(self, gate: BlockGate, watch: Watch | None) -> tuple[BlockValues, list[Seal]]:
        """All blocks, each read once; from now on they must not change."""
        if self.client is not None:
            from sparsedp.data.blocks.cluster import read_blocks

            return read_blocks(self.client, self.sources, gate, watch)
        machine = Machine(len(self.sources), self.n_threads, self.memory)
        reader = _SealedBlocks(gate, self.sources)
        blocks = LocalBlocks(machine, reader)
        blocks.watched(watch)
        reader.seals = blocks.each(reader.sealing)
        return blocks, reader.seals


def in_blocks(
    X: RawTable, y: RawColumn, groups: RawColumn = None, sample_weight: RawColumn = None
) -> RecordBlocks | None:
    """What users give to ``fit``, if it comes in blocks: `RecordBlocks` or Dask collections."""
    if isinstance(X, RecordBlocks):
        if any(each is not None for each in (y, groups, sample_weight)):
            raise ValueError(
                "RecordBlocks hold targets, ids of persons and weights too: call fit(records) "
                "without y, groups and sample_weight"
            )
        return X
    if _is_dask(X):
        return RecordBlocks.from_dask(X, y, groups=groups, sample_weight=sample_weight)
    if _is_dask(y):
        raise ValueError("y is a Dask collection and X is not: make both of one kind")
    return None


def _is_dask(collection: RawTable) -> bool:
    # By name, so that Dask is not loaded for those who do not use it.
    return type(collection).__module__.split(".")[0] in ("dask", "dask_expr")


class _SealedBlocks:
    """Reads blocks by number; once they are sealed, they must be the same each time."""

    def __init__(self, gate: BlockGate, sources: Sequence[Source]) -> None:
        self._gate, self._sources = gate, sources
        self.sealing = Sealing()
        self.seals: list[Seal] = []

    def __call__(self, index: int) -> Dataset:
        source = self._sources[index]
        block = self._gate.read(source)
        if self.seals and self.sealing(block) != self.seals[index]:
            raise LostBlock(f"{source.label}: {CHANGED}")
        return block


def _check_rows(rows_per_block: object) -> None:
    whole = isinstance(rows_per_block, int | np.integer) and not isinstance(rows_per_block, bool)
    if not whole or rows_per_block < 1:
        raise ValueError(
            f"rows_per_block must be a whole number of at least 1, got {rows_per_block!r}"
        )

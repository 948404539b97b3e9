"""Records that are read block by block: more than fit in memory, or spread over a cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from sparsedp.data.blocks.blocked import BlockedDataset
from sparsedp.data.blocks.local import LocalBlocks, Machine, Watch
from sparsedp.data.blocks.pieces import ArrayPiece, Gate, LostBlock, NpzPiece, Piece, parquet_pieces
from sparsedp.data.blocks.seal import CHANGED, Seal, Sealing
from sparsedp.data.dataset import Dataset
from sparsedp.data.entries import canonical
from sparsedp.data.gate import Invalid
from sparsedp.data.sums.products import most_records

ROWS_PER_BLOCK = 100_000


@dataclass(frozen=True, eq=False, repr=False)
class RecordBlocks:
    """Records for ``fit`` that are never in memory all at once.

    Made by `from_arrays`, `from_npz`, `from_parquet` or `from_dask`; then ``clf.fit(records)``.

    Parameters
    ----------
    pieces : sequence
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

    Notes
    -----
    *Privacy.* Every block passes the same gate as records in memory, each time it is read, and
    only sums over all records reach the curator. Workers send exact sums: they, the connections
    and the machine that fits must be as trusted as the data.
    """

    pieces: tuple[Any, ...]
    n_features: int
    is_sparse: bool
    feature_names: tuple[str, ...] | None = None
    n_threads: int = 1
    memory: int = 2**30
    client: Any = None

    def __post_init__(self) -> None:
        if self.n_threads < 1:
            raise ValueError(f"n_threads must be at least 1, got {self.n_threads!r}")

    def __repr__(self) -> str:
        return f"RecordBlocks(n_features={self.n_features}, records private)"

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(
            "RecordBlocks are for fit(records), with targets and never in memory all at once: to "
            "predict, give the features of one block after the other as an array"
        )

    @classmethod
    def from_arrays(
        cls, X: Any, y: Any, *, rows_per_block: int = ROWS_PER_BLOCK, n_threads: int = 1
    ) -> "RecordBlocks":
        """Cut arrays into blocks of rows; meant for memory-mapped ones.

        Parameters
        ----------
        X : ndarray or CSR array
            Of shape (n, d), for example ``np.load("X.npy", mmap_mode="r")``.
        y : ndarray of shape (n,)
        rows_per_block : int
        n_threads : int
        """
        _check_rows(rows_per_block)
        if sparse.issparse(X) and X.format != "csr":
            X = canonical(X).tocsr()  # SciPy would sum duplicates in an order of its own
        if getattr(X, "ndim", None) != 2 or getattr(y, "ndim", None) != 1 or len(y) != X.shape[0]:
            raise ValueError("X needs one row per record and y one entry per record, both arrays")
        n = X.shape[0]
        pieces = tuple(
            ArrayPiece(X, y, start, min(start + rows_per_block, n))
            for start in range(0, max(n, 1), rows_per_block)
        )
        return cls(pieces, X.shape[1], sparse.issparse(X), n_threads=n_threads)

    @classmethod
    def from_npz(
        cls, source: str | Path | Sequence[str | Path], *, target: str = "y", n_threads: int = 1
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
        n_threads : int
        """
        pieces = tuple(NpzPiece(path, target) for path in _files(source, ".npz"))
        n_features, is_sparse, names = pieces[0].shape()
        return cls(pieces, n_features, is_sparse, names, n_threads=n_threads)

    @classmethod
    def from_parquet(
        cls,
        source: str | Path | Sequence[str | Path],
        *,
        target: str,
        categories: Mapping[str, Sequence[Any]] | None = None,
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
        paths = _files(source, ".parquet")
        pieces, plan = parquet_pieces(paths, target, categories, drop, rows_per_block)
        names = plan.feature_names
        return cls(pieces, len(names), False, names, n_threads=n_threads)

    @classmethod
    def from_dask(
        cls, X: Any, y: Any = None, *, target: str | None = None, client: Any = None
    ) -> "RecordBlocks":
        """Take Dask collections: blocks are their chunks or partitions, and stay on the workers.

        Parameters
        ----------
        X : dask array or dask data frame
            An array is cut along rows only; its chunks may be SciPy sparse arrays.
        y : dask array or series, optional
            Cut like X. Not needed if `target` names a column of a data frame.
        target : str, optional
        client : dask.distributed.Client, optional
            By default the current one.
        """
        from sparsedp.data.blocks.cluster import collection_pieces, current_client

        pieces, n_features, is_sparse, names = collection_pieces(X, y, target)
        return cls(pieces, n_features, is_sparse, names, client=client or current_client())

    def on(self, client: Any) -> "RecordBlocks":
        """Return the same blocks, read by the workers of a Dask cluster.

        Files must be where the workers find them under the same name.
        """
        return replace(self, client=client)

    def clip(
        self,
        bounds: Any,
        *,
        classes: Any = (0, 1),
        target_bounds: tuple[float, float] | None = None,
        intercept: bool = True,
        invalid: Invalid = "raise",
        watch: Watch | None = None,
    ) -> BlockedDataset:
        """Let the blocks through the gate; see `Dataset.clip`.

        All of them are read once now, so that malformed records are found before anything is
        charged, and again in every pass; ``watch`` is told how far that has got.
        """
        gate = Gate(
            n_features=self.n_features,
            is_sparse=self.is_sparse,
            bounds=bounds,
            classes=classes,
            target_bounds=target_bounds,
            intercept=intercept,
            invalid=invalid,
            feature_names=self.feature_names,
        )
        nobody = gate.nobody()
        blocks, seals = self._checked(gate, watch)
        counts = [seal.n_records for seal in seals]
        if sum(counts) > most_records(self.n_features, nobody.row_norm):
            blocks.close()
            raise ValueError("too many records for the rounding of sums (summation.md): use fewer")
        return BlockedDataset(blocks, nobody, counts)

    def _checked(self, gate: Gate, watch: Watch | None) -> tuple[Any, list[Seal]]:
        try:
            return self._opened(gate, watch)
        except LostBlock as error:
            lost = str(error)
        raise ValueError(lost)  # here, so that it holds no frame with records

    def _opened(self, gate: Gate, watch: Watch | None) -> tuple[Any, list[Seal]]:
        """All blocks, each read once; from now on they must not change."""
        if self.client is not None:
            from sparsedp.data.blocks.cluster import opened

            return opened(self.client, self.pieces, gate, watch)
        machine = Machine(len(self.pieces), self.n_threads, self.memory)
        source = _Source(gate, self.pieces)
        blocks = LocalBlocks(machine, source)
        blocks.watched(watch)
        source.seals = blocks.each(source.sealing)
        return blocks, source.seals


def in_blocks(X: Any, y: Any) -> RecordBlocks | None:
    """What users give to ``fit``, if it comes in blocks: `RecordBlocks` or Dask collections."""
    if isinstance(X, RecordBlocks):
        if y is not None:
            raise ValueError("RecordBlocks hold the targets too: call fit(records) without y")
        return X
    if _is_dask(X):
        return RecordBlocks.from_dask(X, y)
    if _is_dask(y):
        raise ValueError("y is a Dask collection and X is not: make both of one kind")
    return None


def _is_dask(collection: Any) -> bool:
    # By name, so that Dask is not loaded for those who do not use it.
    return type(collection).__module__.split(".")[0] in ("dask", "dask_expr")


class _Source:
    """Reads blocks by number; once they are sealed, they must be the same each time."""

    def __init__(self, gate: Gate, pieces: Sequence[Piece]) -> None:
        self._gate, self._pieces = gate, pieces
        self.sealing = Sealing()
        self.seals: list[Seal] = []

    def __call__(self, index: int) -> Dataset:
        piece = self._pieces[index]
        block = self._gate.read(piece)
        if self.seals and self.sealing(block) != self.seals[index]:
            raise LostBlock(f"{piece.label}: {CHANGED}")
        return block


def _check_rows(rows_per_block: Any) -> None:
    whole = isinstance(rows_per_block, int | np.integer) and not isinstance(rows_per_block, bool)
    if not whole or rows_per_block < 1:
        raise ValueError(
            f"rows_per_block must be a whole number of at least 1, got {rows_per_block!r}"
        )


def _files(source: str | Path | Sequence[str | Path], suffix: str) -> list[Path]:
    if not isinstance(source, str | Path):
        files = [Path(path) for path in source]
    else:
        files = _below(Path(source), suffix) if Path(source).is_dir() else [Path(source)]
    if not files:
        raise ValueError(f"no {suffix} files here: give a folder that has some, or their names")
    for path in files:
        if not path.exists():
            raise ValueError(f"{path} does not exist")
    return files


def _below(folder: Path, suffix: str) -> list[Path]:
    """Files of a folder and its subfolders, in the order of their names."""
    files = []
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder).parts
        if path.suffix.lower() != suffix or any(name.startswith((".", "_")) for name in inner):
            continue
        if any("=" in name for name in inner[:-1]):
            raise ValueError(
                f"{folder} has subfolders whose names are columns (key=value), which are not read: "
                "give the files one by one, or write these columns into them"
            )
        files.append(path)
    return files

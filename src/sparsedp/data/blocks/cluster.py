"""Blocks of records on a Dask cluster: functions travel, records stay, sums come back.

Loaded only when a cluster is used; needs the extra "distributed".
"""

import contextlib
import os
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from sparsedp.data.blocks.derived import Sums, added
from sparsedp.data.blocks.local import Watch, blas_controller, size_of
from sparsedp.data.blocks.pieces import Gate, LostBlock, admitted
from sparsedp.data.blocks.seal import CHANGED, Seal, Sealing
from sparsedp.data.dataset import Dataset
from sparsedp.data.gate import column_names

try:
    import distributed
    from dask.delayed import Delayed
except ImportError:
    raise ImportError(
        'Dask clusters need dask and distributed: python -m pip install "sparsedp[distributed]"'
    ) from None

PATIENCE = 60.0
"""Seconds without any worker after which a fit gives up."""

RETRIES = 2
"""Reading a block is tried so many times more before it is given up."""

LARGE = 2**16
"""Bytes of a function's arrays from which it is sent once for all blocks."""

GATHERED = 32
"""Results that are fetched at a time, so that the sums of many blocks need little memory."""


class Cluster:
    """Sends functions to the workers and waits for what comes back.

    Parameters
    ----------
    client : distributed.Client

    Attributes
    ----------
    n_rounds : int
        How many times results were waited for.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self.n_rounds = 0
        self.watch: Watch | None = None
        self._futures: weakref.WeakSet[Any] = weakref.WeakSet()

    def own(self, futures: list[Any]) -> list[Any]:
        """Futures that `close` lets go of, if nobody did before."""
        self._futures.update(futures)
        return futures

    def close(self) -> None:
        """Let the workers forget everything, whoever still holds a future (as tracebacks do)."""
        for future in list(self._futures):
            future.release()

    def submit(
        self, function: Callable[..., Any], inputs: Sequence[Sequence[Any]], retries: int = 0
    ) -> list[Any]:
        """Futures of the function for all blocks, each computed where its block is."""
        if size_of(function) > LARGE:
            # Weights of many features are sent to the cluster once, and by a task, which can be
            # repeated if the worker that holds the result is lost.
            (function,) = self.own([self.client.submit(_itself, function, pure=False)])
        return self.own(
            [
                self.client.submit(_evaluated, function, *values, pure=False, retries=retries)
                for values in zip(*inputs, strict=True)
            ]
        )

    def results(self, futures: list[Any]) -> Iterator[Any]:
        """Results in the order of the blocks: one round."""
        self.n_rounds += 1
        self._guarded(self._wait, futures)
        for start in range(0, len(futures), GATHERED):
            yield from self._guarded(self.client.gather, futures[start : start + GATHERED])

    def _guarded(self, get: Callable[[list[Any]], Any], futures: list[Any]) -> Any:
        """What a function of futures gives, or an exception that holds no frames with records."""
        try:
            return get(futures)
        except (distributed.KilledWorker, distributed.CancelledError):
            stopped: BaseException = LostBlock(
                "a worker was lost, and the cluster cannot compute its blocks again (scattered "
                "data are kept nowhere else; a block may be too large for a worker)"
            )
        except Exception as error:
            stopped = error.with_traceback(None)
            stopped.__cause__ = stopped.__context__ = None
        raise stopped

    def _wait(self, futures: list[Any]) -> None:
        """Wait for all, as long as there is any worker."""
        missing_since = None
        while True:
            try:
                distributed.wait(futures, timeout=0.5 if self.watch else 5.0)
                break
            except TimeoutError:
                pass
            if self.watch is not None:
                self.watch()
            now = time.monotonic()
            if self.client.scheduler_info(n_workers=1)["workers"]:
                missing_since = None
            elif missing_since is None:
                missing_since = now
            elif now - missing_since > PATIENCE:
                raise LostBlock(f"the cluster has had no worker for {PATIENCE:.0f} seconds")
        if self.watch is not None:
            self.watch()


class ClusterBlocks:
    """One private value per block, on the workers; see `Derived`.

    A value that is lost with its worker is computed again, from the source if need be.
    """

    def __init__(self, cluster: Cluster, futures: list[Any]) -> None:
        self.cluster, self.futures = cluster, futures

    def derive(
        self, function: Callable[..., Any], *others: "ClusterBlocks", kept: bool = True
    ) -> "ClusterBlocks":
        """Values computed from these; they stay on the workers."""
        inputs = [self.futures, *(other.futures for other in others)]
        return ClusterBlocks(self.cluster, self.cluster.submit(function, inputs))

    def given(self, values: Sequence[Any]) -> "ClusterBlocks":
        """Values that are here already, one per block."""
        submit = self.cluster.client.submit
        futures = self.cluster.own([submit(_itself, value, pure=False) for value in values])
        return ClusterBlocks(self.cluster, futures)

    def each(self, function: Callable[..., Any], *others: "ClusterBlocks") -> list[Any]:
        """Results for all blocks, in their order."""
        return list(self._results(function, others))

    def total(self, function: Callable[..., Sums], *others: "ClusterBlocks") -> Sums:
        """Sum over the blocks, in their order."""
        return added(self._results(function, others))

    def watched(self, watch: Watch | None) -> None:
        """Report progress to a function, or no longer."""
        self.cluster.watch = watch

    def close(self) -> None:
        """Let go of everything that the workers hold for this fit."""
        self.cluster.close()

    def _results(
        self, function: Callable[..., Any], others: Sequence["ClusterBlocks"]
    ) -> Iterator[Any]:
        return self.cluster.results(self.derive(function, *others).futures)


@dataclass(frozen=True, eq=False)
class CollectionPiece:
    """A chunk or partition of Dask collections: features, and targets or the name of a column."""

    X: Delayed
    y: Delayed | None
    target: str | None
    columns: tuple[Any, ...] | None
    """Names of a data frame's columns, in their order; every partition must have the same."""


def opened(
    client: Any, pieces: Sequence[Any], gate: Gate, watch: Watch | None
) -> tuple[ClusterBlocks, list[Seal]]:
    """Have the workers read the blocks and let them through the gate; see `Seal`."""
    cluster = Cluster(client)
    cluster.watch = watch
    client.run(_alone_in_its_folder, on_error="ignore")
    try:
        futures, sealing = _read(cluster, pieces, gate), Sealing()
        seals = ClusterBlocks(cluster, futures).each(sealing)
        # What workers compute again after a loss, they also compare again.
        checked = cluster.submit(_Checked(sealing), [futures, seals])
    except BaseException:
        cluster.close()
        raise
    return ClusterBlocks(cluster, checked), seals


def _read(cluster: Cluster, pieces: Sequence[Any], gate: Gate) -> list[Any]:
    if not isinstance(pieces[0], CollectionPiece):
        return cluster.submit(gate.read, [pieces], retries=RETRIES)
    # All in one graph, so that what chunks have in common is computed once.
    lazy = [piece.X for piece in pieces] + [piece.y for piece in pieces if piece.y is not None]
    parts = cluster.own(cluster.client.compute(lazy, retries=RETRIES))
    admit = _Admit(gate, pieces[0].target, pieces[0].columns)
    inputs = [parts[: len(pieces)]]
    if len(parts) > len(pieces):
        inputs.append(parts[len(pieces) :])
    return cluster.submit(admit, inputs)


def current_client() -> Any:
    """The client in use; raises where there is none."""
    try:
        return distributed.default_client()
    except ValueError:
        raise ValueError(
            "there is no Dask client: start one, e.g. client = dask.distributed.Client(), or pass "
            "client=..."
        ) from None


def collection_pieces(
    X: Any, y: Any, target: str | None
) -> tuple[tuple[CollectionPiece, ...], int, bool, tuple[str, ...] | None]:
    """Cut Dask collections into pieces; also number, kind and names of the features."""
    if (y is None) == (target is None):
        raise ValueError("give y, or the name of the target column of a data frame")
    if y is not None and not callable(getattr(type(y), "to_delayed", None)):
        raise ValueError(
            "X is a Dask collection and y is not: make y one that is cut like X, for example "
            "dask.array.from_array(y, chunks=X.chunks[0])"
        )
    names = column_names(X)
    if names is not None:
        if target is not None and target not in names:
            raise ValueError(f"the data frame has no column {target!r}")
        kept = [name for name in names if name != target]
        named = tuple(kept) if all(isinstance(name, str) for name in kept) else None
        features, n_features, is_sparse = X.to_delayed(), len(kept), False
    else:
        if target is not None:
            raise ValueError("a Dask array has no columns with names: give y instead of target")
        if X.ndim != 2:
            raise ValueError("X must have one row per record and one column per feature")
        X = X.rechunk({1: -1})
        features, n_features = X.to_delayed().ravel(), X.shape[1]
        named, is_sparse = None, sparse.issparse(X._meta)
    if y is None:
        targets = [None] * len(features)
    else:
        if names is None and not any(size != size for size in X.chunks[0]):
            y = y.rechunk((X.chunks[0],))
        targets = list(y.to_delayed())
        if len(targets) != len(features):
            raise ValueError("X and y are cut into different numbers of parts: cut them alike")
    columns = None if names is None else tuple(names)
    pairs = zip(features, targets, strict=True)
    pieces = (CollectionPiece(*pair, target, columns) for pair in pairs)
    return tuple(pieces), n_features, is_sparse, named


@dataclass(frozen=True, eq=False)
class _Admit:
    gate: Gate
    target: str | None
    columns: tuple[Any, ...] | None

    def __call__(self, X: Any, y: Any = None) -> Dataset:
        return admitted(lambda: self._admit(X, y), "a block of the Dask collection")

    def _admit(self, X: Any, y: Any) -> Dataset:
        names = column_names(X)
        if (None if names is None else tuple(names)) != self.columns:
            raise ValueError(
                "its columns differ from those of the collection in name, number or order"
            )
        if self.target is not None:
            X, y = X.drop(columns=self.target), X[self.target]
        return self.gate.admit(X, y)


@dataclass(frozen=True)
class _Checked:
    sealing: Sealing

    def __call__(self, block: Dataset, seal: Seal) -> Dataset:
        if self.sealing(block) != seal:
            raise LostBlock(f"a block: {CHANGED}")
        return block


def _alone_in_its_folder(dask_worker: Any) -> None:
    """What a worker spills to disk is for its own eyes; by itself Dask lets everybody read it."""
    with contextlib.suppress(OSError):  # where folders have no modes
        os.chmod(dask_worker.local_directory, 0o700)


@lru_cache(maxsize=1)
def _settled() -> None:
    """Done once by each worker, also by those that joined later."""
    # One thread for linear algebra from now on: see `blas_controller`.
    blas_controller().limit(limits=1, user_api="blas")
    _alone_in_its_folder(distributed.get_worker())


def _itself(value: Any) -> Any:
    return value


def _evaluated(function: Callable[..., Any], *values: Any) -> Any:
    """Run on a worker."""
    _settled()
    return function(*map(_aligned, values))


def _aligned(value: Any) -> Any:
    """The same value, its arrays where NumPy's fast loops take them.

    Arrays that came from another worker may begin at any byte; NumPy then adds in another order.
    """
    if isinstance(value, np.ndarray):
        return value if value.flags.aligned else value.copy("K")
    if isinstance(value, tuple | list):
        return type(value)(map(_aligned, value))
    if sparse.issparse(value):
        parts = (value.data, value.indices, value.indptr)
        if all(part.flags.aligned for part in parts):
            return value
        return type(value)(tuple(map(_aligned, parts)), shape=value.shape)
    if is_dataclass(value) and not isinstance(value, type):
        old = {field.name: getattr(value, field.name) for field in fields(value)}
        new = {name: _aligned(part) for name, part in old.items()}
        return replace(value, **new) if any(new[name] is not old[name] for name in old) else value
    return value

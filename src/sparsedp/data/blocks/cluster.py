"""Blocks of records on a Dask cluster: functions travel, records stay, sums come back.

Loaded only when a cluster is used; needs the extra "distributed".
"""

import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sparsedp.data.blocks.admit import BlockGate, LostBlock
from sparsedp.data.blocks.packed import size_of
from sparsedp.data.blocks.seal import CHANGED, Seal, Sealing
from sparsedp.data.blocks.sources import Source
from sparsedp.data.blocks.values import Result, foreign
from sparsedp.data.dataset import Dataset
from sparsedp.data.raw import Module
from sparsedp.data.records import Derived, Sums, Watch
from sparsedp.data.sums.running import added

try:
    import distributed

    from sparsedp.data.blocks import worker
    from sparsedp.data.blocks.collection import AdmitCollection, CollectionSource
except ImportError:
    raise ImportError(
        'Dask clusters need dask and distributed: python -m pip install "sparsedp[distributed]"'
    ) from None

Client = Module
Future = Module
"""Dask's own, which carry no types."""

Got = TypeVar("Got")

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

    def __init__(self, client: Client) -> None:
        self.client = client
        self.n_rounds = 0
        self.watch: Watch | None = None
        self._futures: weakref.WeakSet[Future] = weakref.WeakSet()

    def own(self, futures: list[Future]) -> list[Future]:
        """Futures that `close` lets go of, if nobody did before."""
        self._futures.update(futures)
        return futures

    def close(self) -> None:
        """Let the workers forget everything, whoever still holds a future (as tracebacks do)."""
        for future in list(self._futures):
            future.release()

    def submit(
        self, function: Callable[..., object], inputs: Sequence[Sequence[object]], retries: int = 0
    ) -> list[Future]:
        """Futures of the function for all blocks, each computed where its block is."""
        if size_of(function) > LARGE:
            # Weights of many features are sent to the cluster once, and by a task, which can be
            # repeated if the worker that holds the result is lost.
            (function,) = self.own([self.client.submit(worker.itself, function, pure=False)])
        return self.own(
            [
                self.client.submit(worker.evaluated, function, *values, pure=False, retries=retries)
                for values in zip(*inputs, strict=True)
            ]
        )

    def results(self, futures: list[Future]) -> Iterator[Result]:
        """Results in the order of the blocks: one round."""
        self.n_rounds += 1
        self._guarded(self._wait, futures)
        for start in range(0, len(futures), GATHERED):
            yield from self._guarded(self.client.gather, futures[start : start + GATHERED])

    def _guarded(self, get: Callable[[list[Future]], Got], futures: list[Future]) -> Got:
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

    def _wait(self, futures: list[Future]) -> None:
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

    def __init__(self, cluster: Cluster, futures: list[Future]) -> None:
        self.cluster, self.futures = cluster, futures

    def derive(
        self, function: Callable[..., object], *others: Derived, kept: bool = True
    ) -> "ClusterBlocks":
        """Values computed from these; they stay on the workers."""
        inputs = [self.futures, *map(_futures, others)]
        return ClusterBlocks(self.cluster, self.cluster.submit(function, inputs))

    def given(self, values: Sequence[object]) -> "ClusterBlocks":
        """Values that are here already, one per block."""
        submit = self.cluster.client.submit
        futures = self.cluster.own([submit(worker.itself, value, pure=False) for value in values])
        return ClusterBlocks(self.cluster, futures)

    def each(self, function: Callable[..., Result], *others: Derived) -> list[Result]:
        """Results for all blocks, in their order."""
        return list(self._results(function, others))

    def total(self, function: Callable[..., Sums], *others: Derived) -> Sums:
        """Sum over the blocks, in their order."""
        return added(self._results(function, others))

    def watched(self, watch: Watch | None) -> None:
        """Report progress to a function, or no longer."""
        self.cluster.watch = watch

    def close(self) -> None:
        """Let go of everything that the workers hold for this fit."""
        self.cluster.close()

    def _results(
        self, function: Callable[..., Result], others: Sequence[Derived]
    ) -> Iterator[Result]:
        return self.cluster.results(self.derive(function, *others).futures)


def read_blocks(
    client: Client, sources: Sequence[Source], gate: BlockGate, watch: Watch | None
) -> tuple[ClusterBlocks, list[Seal]]:
    """Have the workers read the blocks and let them through the gate; see `Seal`."""
    cluster = Cluster(client)
    cluster.watch = watch
    client.run(worker.alone_in_its_folder, on_error="ignore")
    try:
        futures, sealing = _read(cluster, sources, gate), Sealing()
        seals = ClusterBlocks(cluster, futures).each(sealing)
        # What workers compute again after a loss, they also compare again.
        checked = cluster.submit(_Checked(sealing), [futures, seals])
    except BaseException:
        cluster.close()
        raise
    return ClusterBlocks(cluster, checked), seals


def _read(cluster: Cluster, sources: Sequence[Source], gate: BlockGate) -> list[Future]:
    chunks = [source for source in sources if isinstance(source, CollectionSource)]
    if not chunks:
        return cluster.submit(gate.read, [sources], retries=RETRIES)
    # All in one graph, so that what chunks have in common is computed once.
    names = [
        name for name in ("y", "groups", "sample_weight") if getattr(chunks[0], name) is not None
    ]
    lazy = [getattr(chunk, name) for name in ("X", *names) for chunk in chunks]
    parts = cluster.own(cluster.client.compute(lazy, retries=RETRIES))
    admit = AdmitCollection(gate, chunks[0].target, chunks[0].columns, tuple(names))
    n = len(chunks)
    return cluster.submit(admit, [parts[i : i + n] for i in range(0, len(parts), n)])


def current_client() -> Client:
    """The client in use; raises where there is none."""
    try:
        return distributed.default_client()
    except ValueError:
        raise ValueError(
            "there is no Dask client: start one, e.g. client = dask.distributed.Client(), or pass "
            "client=..."
        ) from None


@dataclass(frozen=True)
class _Checked:
    sealing: Sealing

    def __call__(self, block: Dataset, seal: Seal) -> Dataset:
        if self.sealing(block) != seal:
            raise LostBlock(f"a block: {CHANGED}")
        return block


def _futures(other: Derived) -> list[Future]:
    if not isinstance(other, ClusterBlocks):
        raise foreign()
    return other.futures

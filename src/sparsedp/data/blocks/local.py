"""Blocks of records that one machine reads again and again, in bounded memory."""

import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache

from sparsedp.data.blocks.packed import packed, size_of, unpacked
from sparsedp.data.blocks.values import Result, foreign
from sparsedp.data.raw import Module
from sparsedp.data.records import Derived, Sums, Watch
from sparsedp.data.sums.running import added

STALE = 4
"""Values that were of no use in as many passes give way to others when memory is short."""

MISSING = object()


class Machine:
    """Reads blocks in their order, a few at a time.

    Parameters
    ----------
    n_blocks : int
    n_threads : int
        Blocks that are in memory, and worked on, at the same time.
    memory : int
        Bytes for values derived from blocks; what does not fit is computed again when needed.
    """

    def __init__(self, n_blocks: int, n_threads: int, memory: int) -> None:
        self.n_blocks, self.n_threads = n_blocks, n_threads
        self.n_passes = 0
        self.watch: Watch | None = None
        self._free = memory
        self._holders: weakref.WeakSet[LocalBlocks] = weakref.WeakSet()
        self.lock = threading.RLock()  # giving back may happen while taking

    def run(
        self, function: Callable[..., Result], inputs: Sequence["LocalBlocks"]
    ) -> Iterator[Result]:
        """Results for all blocks, in their order: one pass."""
        self.n_passes += 1
        with blas_controller().limit(limits=1, user_api="blas"):
            for result in self._results(function, inputs):
                if self.watch is not None:
                    self.watch()
                yield result

    def _results(
        self, function: Callable[..., Result], inputs: Sequence["LocalBlocks"]
    ) -> Iterator[Result]:
        def evaluate(index: int) -> Result:
            # A block may be needed itself and for a value derived from it: it is read once.
            memo: dict[int, object] = {}
            return function(*(values.value(index, memo) for values in inputs))

        if self.n_threads == 1:
            yield from map(evaluate, range(self.n_blocks))
            return
        with ThreadPoolExecutor(self.n_threads) as pool:
            waiting: deque[Future[Result]] = deque()
            for index in range(self.n_blocks):
                if len(waiting) == self.n_threads:
                    yield waiting.popleft().result()
                waiting.append(pool.submit(evaluate, index))
            while waiting:
                yield waiting.popleft().result()

    def reserve(self, size: int, holder: "LocalBlocks") -> bool:
        """Whether there is memory for another value, which is then taken."""
        with self.lock:
            if size > self._free:
                for other in list(self._holders):
                    stale = other.last_used < self.n_passes - STALE
                    if stale or (other.cheap and not holder.cheap):
                        self._free += other.forget()
            if size > self._free:
                return False
            self._free -= size
            self._holders.add(holder)
            return True

    def release(self, size: int) -> None:
        """Give memory back."""
        with self.lock:
            self._free += size

    def close(self) -> None:
        """Forget all values that are kept."""
        with self.lock:
            for holder in list(self._holders):
                self._free += holder.forget()


class LocalBlocks:
    """One private value per block, computed when it is needed; see `Derived`.

    Parameters
    ----------
    machine : Machine
    function : callable
        Of a block's number or, with parents, of their values.
    parents : tuple of LocalBlocks
    kept : bool
        Whether values stay in memory as far as there is room.
    """

    def __init__(
        self,
        machine: Machine,
        function: Callable[..., object],
        parents: tuple["LocalBlocks", ...] = (),
        *,
        kept: bool = False,
    ) -> None:
        self._machine, self._function, self._parents = machine, function, parents
        self._kept: dict[int, object] = {}
        self._keeps, self._size = kept, 0
        self.last_used = 0
        self.cheap = bool(parents) and all(parent._keeps for parent in parents)
        """Whether values can be had again without reading the records."""

    def derive(
        self, function: Callable[..., object], *others: Derived, kept: bool = True
    ) -> "LocalBlocks":
        """Values computed from these; nothing happens before they are needed."""
        return LocalBlocks(self._machine, function, (self, *_local(others)), kept=kept)

    def given(self, values: Sequence[object]) -> "LocalBlocks":
        """Values that are there already, one per block."""
        return LocalBlocks(self._machine, values.__getitem__)

    def each(self, function: Callable[..., Result], *others: Derived) -> list[Result]:
        """Results for all blocks, in their order."""
        return list(self._machine.run(function, (self, *_local(others))))

    def total(self, function: Callable[..., Sums], *others: Derived) -> Sums:
        """Sum over the blocks, in their order."""
        return added(self._machine.run(function, (self, *_local(others))))

    def watched(self, watch: Watch | None) -> None:
        """Report progress to a function, or no longer."""
        self._machine.watch = watch

    def close(self) -> None:
        """Let go of everything that is kept."""
        self._machine.close()

    def value(self, index: int, memo: dict[int, object]) -> object:
        """The value of one block; ``memo`` holds what was computed for it in this pass."""
        self.last_used = self._machine.n_passes
        # One look, as another thread may forget what is kept between a test and its use.
        kept = self._kept.get(index, MISSING)
        if kept is not MISSING:
            return unpacked(kept)
        if id(self) not in memo:
            if self._parents:
                inputs = [parent.value(index, memo) for parent in self._parents]
                value = self._function(*inputs)
            else:
                value = self._function(index)
            memo[id(self)] = value
            if self._keeps:
                self._keep(index, value)
        return memo[id(self)]

    def forget(self) -> int:
        """Drop what is kept; returns its size in bytes."""
        with self._machine.lock:
            size, self._size = self._size, 0
            self._kept = {}
        return size

    def _keep(self, index: int, value: object) -> None:
        value = packed(value)
        size = size_of(value)
        with self._machine.lock:
            if self._machine.reserve(size, self):
                self._kept[index] = value
                self._size += size

    def __del__(self) -> None:
        self._machine.release(self.forget())


def _local(others: Sequence[Derived]) -> list[LocalBlocks]:
    blocks = [other for other in others if isinstance(other, LocalBlocks)]
    if len(blocks) < len(others):
        raise foreign()
    return blocks


@lru_cache(maxsize=1)
def blas_controller() -> Module:
    """Control over the threads of linear algebra: their number changes how sums are rounded.

    One thread per block makes the same blocks give the same bits on any number of machines.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()

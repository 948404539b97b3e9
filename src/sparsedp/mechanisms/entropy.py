"""Where every random bit comes from: an AES-256-CTR key stream."""

import hashlib
import operator
import os
import sys
import threading
from typing import NoReturn

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

_leaving = threading.Lock()
"""Held while a stream leaves its parent process. A lock of the stream would not do: at the fork a
thread of the parent may have held it, and nobody in the child would ever release it."""


def _after_fork() -> None:
    global _leaving
    _leaving = threading.Lock()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_after_fork)

_BLOCK = 4096  # words per refill: 32 KiB, so that a refill costs as little per word as a large one


class KeyStream:
    """A sequence of uniform 64-bit words, the AES-256-CTR key stream of OpenSSL.

    Make one with `KeyStream.secure` or `KeyStream.from_seed`. The sequence does not depend on how
    it is asked for: two requests of three words give what one request of six gives.

    Attributes
    ----------
    seeded : bool
        Whether the key was derived from a seed that someone may know.

    Notes
    -----
    *Privacy.* Releases are private against those who do not know the key. A secure stream takes
    its key from the operating system and forgets it with the process; whatever a seeded stream
    produced can be recomputed by everyone who knows the seed, so it carries no guarantee.
    """

    def __init__(self, key: bytes, *, seeded: bool) -> None:
        if len(key) != 32:
            raise ValueError("the key of a KeyStream has 32 bytes")
        self.seeded = seeded
        self._start(key)

    @classmethod
    def secure(cls) -> "KeyStream":
        """Start a stream under a fresh key of the operating system."""
        return cls(os.urandom(32), seeded=False)

    @classmethod
    def from_seed(cls, seed: int | bytes) -> "KeyStream":
        """Start the stream that belongs to a seed, the same on every platform."""
        if isinstance(seed, bytes):
            encoded = b"bytes:" + seed
        else:
            encoded = b"integer:%d" % operator.index(seed)
        return cls(hashlib.sha256(b"sparsedp key stream:" + encoded).digest(), seeded=True)

    def _start(self, key: bytes) -> None:
        # Each key is used for one stream only, so the counter may start at zero.
        self._encryptor = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
        self._buffer = np.empty(0, dtype=np.uint64)
        self._position = 0
        self._lock = threading.Lock()
        # Last: threads that find this process here go on to use all of the above.
        self._process = os.getpid()

    def _fresh(self, n: int) -> np.ndarray:
        encrypted = self._encryptor.update(bytes(8 * n))
        return np.frombuffer(encrypted, dtype="<u8").astype(np.uint64, copy=False)

    def words(self, n: int) -> np.ndarray:
        """Return the next `n` words as a read-only uint64 array."""
        if os.getpid() != self._process:
            with _leaving:
                if os.getpid() != self._process:  # no other thread was faster
                    self._leave_parent()
        # Two threads must never be handed the same words: equal noise would cancel.
        with self._lock:
            start, stop = self._position, self._position + n
            if stop <= self._buffer.size:
                self._position = stop
                return self._buffer[start:stop]
            rest = self._buffer[start:]
            missing = n - rest.size
            # What is beyond the request stays for the next one, so that the order is kept.
            self._buffer = self._fresh(missing + _BLOCK)
            self._position = missing
            head = self._buffer[:missing]
            return np.concatenate((rest, head)) if rest.size else head

    def bits(self, n_bits: int) -> int:
        """Return a uniform integer of `n_bits` bits."""
        n_words = -(-n_bits // 64)
        if n_words == 1:
            return int(self.words(1)[0]) >> (64 - n_bits)
        drawn = int.from_bytes(self.words(n_words).astype("<u8", copy=False).tobytes(), "little")
        return drawn >> (64 * n_words - n_bits)

    def integer_below(self, n: int) -> int:
        """Return a uniform integer from 0 to ``n - 1``; `n` may have any size."""
        if n < 1:
            raise ValueError("integer_below needs a positive bound")
        n_bits = (n - 1).bit_length()
        while True:
            drawn = self.bits(n_bits)
            if drawn < n:
                return drawn

    def _leave_parent(self) -> None:
        """Part from the stream of the parent process, of which a fork holds a copy."""
        if self.seeded:
            raise RuntimeError(
                "a seeded KeyStream was carried into a forked process, where it would repeat the "
                "noise of its parent; make one with a seed of its own in each process"
            )
        self._start(os.urandom(32))

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a KeyStream can be neither copied nor pickled: the copy would repeat its noise"
        )

"""Coins that persist: who is held out follows from a secret key and the person's id, fit after fit.

The key and the share are made together, once, in a file that only its owner can read. Nothing of it
is printed or published but a name, which is a hash of the secret.
"""

import hashlib
import json
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sparsedp.data.blocks.persons import NO_DIGEST, SIZE, digests
from sparsedp.data.gate import Invalid
from sparsedp.data.raw import RawColumn

FORMAT = "sparsedp-holdout/1"
OTHERS = 0o077
"""What nobody but the owner may do with the file."""


@dataclass(frozen=True)
class CoinKey:
    """A secret of 256 bits and the share that it was made for."""

    share: float
    secret: bytes = field(repr=False)

    @classmethod
    def opened(cls, path: Path, share: float) -> "CoinKey":
        """The key in a file, which is made if it is not there; another share is refused."""
        if not path.exists():
            _write(path, {"format": FORMAT, "share": share, "secret": secrets.token_hex(32)})
        key = cls._read(path)
        if key.share != share:
            raise ValueError(
                f"the key {path} was made for holdout={key.share:g}: with another share some "
                "persons would change sides, and be on both. Take that share, or another key with "
                "new ledgers"
            )
        return key

    @classmethod
    def _read(cls, path: Path) -> "CoinKey":
        if os.name == "posix" and path.stat().st_mode & OTHERS:
            raise ValueError(f"others can read the key {path}: it is secret (chmod 600)")
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            share, secret = content["share"], bytes.fromhex(content["secret"])
            right = content["format"] == FORMAT and isinstance(share, float) and 0 < share < 1
        except (OSError, ValueError, KeyError, TypeError):
            right, share, secret = False, 0.0, b""
        if not right or len(secret) != 32:
            raise ValueError(f"{path} is not a key of a holdout: name one, or a file to be made")
        return cls(share, secret)

    @property
    def name(self) -> str:
        """Tells keys and their shares apart, and tells nothing else.

        A file whose share was changed has another name: ledgers of the old one refuse it.
        """
        said = f"sparsedp holdout key {self.share!r}".encode()
        return hashlib.blake2b(said, key=self.secret, digest_size=8).hexdigest()

    def held(self, groups: RawColumn, invalid: Invalid) -> NDArray[np.bool_]:
        """Whether each row's person is held out; a row that is nobody's is not. Private."""
        if groups is None:
            raise ValueError(
                "coins that persist go by the ids of persons: give groups=..., or declare the "
                "person's column; a row's content or place cannot take their place"
            )
        found = digests(groups, self.secret, invalid)
        coins = np.frombuffer(found.tobytes(), dtype=">u8").reshape(-1, SIZE // 8)[:, 0]
        return (coins < np.uint64(int(self.share * 2.0**64))) & (found != NO_DIGEST)


def _write(path: Path, content: dict[str, object]) -> None:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return  # another process was faster: its key is read
    except OSError as error:
        raise ValueError(f"the key {path} could not be made ({error.strerror})") from None
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(json.dumps(content))
        file.flush()
        os.fsync(file.fileno())

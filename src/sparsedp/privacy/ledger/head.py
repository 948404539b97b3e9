"""A note beside a ledger of how far it had come: an old copy put back does not know that line.

The note (``FILE.head``) is written after the line is on the disk, so it never runs ahead; whoever
is killed in between leaves a note that is behind, which is in order.
"""

import contextlib
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from sparsedp.privacy.ledger.chain import Line
from sparsedp.privacy.ledger.errors import LedgerError
from sparsedp.privacy.ledger.store import sweep, sync_folder
from sparsedp.privacy.plain import Parsed


class Receipt(NamedTuple):
    """Where a line stands: the ledger, the line's number, and the hash of all lines up to it."""

    ledger_id: str
    line: int
    head: str

    def to_dict(self) -> Parsed:
        """As it stands in a model's record."""
        return {"id": self.ledger_id, "line": self.line, "head": self.head}


def head_path(path: Path) -> Path:
    """The note that belongs to a ledger."""
    return path.with_name(f"{path.name}.head")


def read_head(path: Path) -> Receipt | None:
    """The note beside the ledger; None if there is none."""
    note = head_path(path)
    try:
        with open(note, "rb") as file:
            content = json.loads(file.read(4096))
        receipt = Receipt(content["id"], content["line"], content["head"])
    except FileNotFoundError:
        return None
    except OSError as error:
        raise LedgerError(f"{note} cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, KeyError, RecursionError):
        receipt = None
    if receipt is None or [type(field) for field in receipt] != [str, int, str]:
        raise LedgerError(
            f"{note} is damaged: it notes how far the ledger beside it had come. Verify that "
            "ledger against the published models, then remove the note"
        )
    return receipt


def write_head(path: Path, receipt: Receipt) -> None:
    """Replace the note. A failure costs evidence, never a charge: it is passed over."""
    folder = path.parent
    with contextlib.suppress(OSError, LedgerError):
        sweep(path)
        seen = read_head(path)
        if seen is not None and seen.ledger_id == receipt.ledger_id and seen.line >= receipt.line:
            return  # another process has come further
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".head", dir=folder)
        try:
            with open(handle, "w", encoding="ascii") as file:
                file.write(json.dumps(receipt.to_dict()) + "\n")
                file.flush()
                os.fsync(file.fileno())
            # It holds nothing that models do not publish; whoever may charge may note it.
            os.chmod(name, 0o644 | path.stat().st_mode & 0o022)
            os.replace(name, head_path(path))
            sync_folder(folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise


def missing(lines: Sequence[Line], ledger_id: str, seen: Receipt) -> str | None:
    """Why a receipt does not fit these lines; None if it does."""
    if seen.ledger_id != ledger_id:
        return "belongs to another ledger"
    if not 0 <= seen.line < len(lines):
        return f"knows line {seen.line}, and the ledger ends at line {len(lines) - 1}"
    if lines[seen.line].hash != seen.head:
        return f"knows another line {seen.line} than the ledger has"
    return None

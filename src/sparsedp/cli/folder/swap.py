"""Folders and files that are whole at every moment, also when the machine stops in between."""

import ctypes
import errno
import os
import sys
from pathlib import Path

AT_FDCWD = -100
RENAME_EXCHANGE = 2


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that is either absent (or as it was) or whole, and on disk when this returns."""
    part = path.with_name(path.name + ".part")
    with part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make renames in a folder last; Windows offers nothing of the kind."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def put_in_place(new: Path, folder: Path, aside: Path) -> None:
    """Give ``new`` the name ``folder``; what had that name is at ``new`` or ``aside`` afterwards.

    Where the system can exchange two names, a whole folder has that name at every moment.
    Elsewhere none has it between two renames, and calling this once more completes the second.
    """
    if not (folder.exists() and _exchange(new, folder)):
        if folder.exists():
            folder.rename(aside)
        new.rename(folder)
    sync_folder(folder.parent)


def _exchange(first: Path, second: Path) -> bool:
    """Exchange two names at once; False where the system cannot."""
    if sys.platform != "linux":
        return False
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    names = (AT_FDCWD, os.fsencode(first), AT_FDCWD, os.fsencode(second))
    if rename(*names, RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(code, os.strerror(code), str(second))

"""Files that are one set of records together: those of a folder, or a list of them."""

from collections.abc import Sequence
from pathlib import Path


def files_of(source: str | Path | Sequence[str | Path], suffix: str) -> list[Path]:
    """The files of a folder with this suffix, or those that are named."""
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

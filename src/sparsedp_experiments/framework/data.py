"""Data sets by name: from a folder, or downloaded from their public addresses.

A folder holds a module load.py with ``load(name, split=...)`` and ``names()``, or LIBSVM files
under their usual names, compressed or not, or both. Without a folder, files come from the addresses
in sources.toml by pooch into a cache. Checksums: sources.toml has those that are published; for the
others the first download is trusted, its checksum is written to checksums.json in the cache, and
later downloads have to match it.
"""

import json
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from sparsedp_experiments.framework import formats
from sparsedp_experiments.framework.registry import load as load_module

SOURCES = Path(__file__).with_name("sources.toml")
PACKED = ("", ".bz2", ".gz", ".xz")


class DataMissing(Exception):
    """A data set is not to be had here; experiments go on without it."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)
        self.name, self.reason = name, reason


@dataclass
class Data:
    """The data sets of a run.

    Parameters
    ----------
    folder : Path, optional
        Where they are. Nothing is downloaded if it is given.
    cache : Path, optional
        Where downloads go; by default pooch's place for caches.
    sources : Path
        Addresses and formats.
    """

    folder: Path | None = None
    cache: Path | None = None
    sources: Path = SOURCES
    _kept: dict[Any, Any] = field(default_factory=dict, repr=False)
    _set: Any = None

    def load(self, name: str, split: str = "train", **options: Any) -> tuple[Any, np.ndarray]:
        """Records and targets of the training part, the test part, or "all".

        ``options`` are those of the folder's ``load``, such as ``text="counts"``.
        """
        try:
            return self._load(name, split, options)
        except DataMissing as error:
            self._kept[("missing", name)] = error.reason  # asked for once, not in every trial
            raise

    def first(self, *names: str) -> str:
        """The first of these that is there; raises for the last of them if none is."""
        for name in names[:-1]:
            try:
                self.load(name)
                return name
            except DataMissing:
                continue
        self.load(names[-1])
        return names[-1]

    def has_test(self, name: str) -> bool:
        """Whether the source has a test part."""
        try:
            self.load(name, "test")
        except (ValueError, DataMissing):
            return False
        return True

    def kept(self, key: Any, make: Callable[[], Any]) -> Any:
        """What make() returned the first time, until another set comes up."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def enter(self, name: Any) -> None:
        """Say which set comes up: what was kept for another is dropped."""
        if name != self._set:
            self._kept, self._set = {}, name

    def prefetch(self, names: set[str]) -> None:
        """Download what is missing, before several processes ask for it at once."""
        if self.folder is None:
            for name in sorted(names & set(self._sources())):
                try:
                    for part in ("train", "test"):
                        if part in self._sources()[name]:
                            self._downloaded(name, part)
                except DataMissing:
                    continue  # said by the trial that needs it

    def _load(self, name: str, split: str, options: dict[str, Any]) -> tuple[Any, np.ndarray]:
        key = ("loaded", name, split, *sorted(options.items()))
        if ("missing", name) in self._kept:
            raise DataMissing(name, self._kept[("missing", name)])
        return self.kept(key, lambda: self._read(name, split, options))

    def _read(self, name: str, split: str, options: dict[str, Any]) -> tuple[Any, np.ndarray]:
        if self.folder is not None and (self.folder / "load.py").exists():
            module = load_module(self.folder / "load.py")
            if name in module.names():
                try:
                    return module.load(name, split=split, **options)
                except OSError as error:
                    raise DataMissing(
                        name, f"cannot be read from {self.folder}: {error}"
                    ) from error
        if name not in self._sources():
            raise DataMissing(name, f"not in {self.folder}" if self.folder else "no source known")
        source = self._sources()[name]
        if split == "all":
            parts = [self._part(name, part) for part in ("train", "test") if part in source]
            stack = sparse.vstack if sparse.issparse(parts[0][0]) else np.vstack
            return stack([X for X, _ in parts]), np.concatenate([y for _, y in parts])
        if split not in source:
            raise ValueError(f"{name} has no {split} part")
        return self._part(name, split)

    def _part(self, name: str, part: str) -> tuple[Any, np.ndarray]:
        found = self._found(self.folder, name, part) if self.folder else None
        path = found or self._downloaded(name, part)
        return formats.read(path, self._sources()[name])

    def _found(self, folder: Path, name: str, part: str) -> Path:
        source = self._sources()[name]
        usual = Path(source.get(f"{part}_file") or Path(source[part]).name)
        stem = usual.name.removesuffix(usual.suffix) if usual.suffix in PACKED else usual.name
        for suffix in PACKED:
            if (folder / (stem + suffix)).exists():
                return folder / (stem + suffix)
        raise DataMissing(name, f"{folder} has neither it in a load.py nor a file {usual}")

    def _downloaded(self, name: str, part: str) -> Path:
        try:
            import pooch
        except ImportError:
            raise DataMissing(
                name, "give a folder by --data, or `pip install pooch` to download"
            ) from None
        source = self._sources()[name]
        cache = Path(self.cache or pooch.os_cache("sparsedp"))
        cache.mkdir(parents=True, exist_ok=True)
        seen_path = cache / "checksums.json"
        seen = json.loads(seen_path.read_text()) if seen_path.exists() else {}
        address = source[part]
        checksum = source.get(f"{part}_sha256") or seen.get(address)
        file_name = f"{name}-{source.get(f'{part}_file') or Path(address).name}"
        try:
            path = Path(
                pooch.retrieve(
                    address, checksum and f"sha256:{checksum}", file_name, cache, progressbar=False
                )
            )
        except Exception as error:  # whatever the network does, other sets go on
            raise DataMissing(name, f"{address}: {type(error).__name__}: {error}") from error
        if checksum is None:
            seen[address] = pooch.file_hash(str(path), "sha256")
            seen_path.write_text(json.dumps(seen, indent=1, sort_keys=True))
        return path

    def _sources(self) -> dict[str, dict[str, Any]]:
        if ("sources",) not in self._kept:
            with self.sources.open("rb") as file:
                self._kept[("sources",)] = tomllib.load(file)
        return self._kept[("sources",)]

"""Find experiments, their titles, settings and code."""

import ast
import hashlib
import importlib
import importlib.util
import json
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGE = "sparsedp_experiments"
ROOT = Path(__file__).resolve().parent.parent
PAPERS = ("private-lasso", "ight", "pretraining", "screening")
"""As users write them; folders and scripts are modules, so that theirs have underscores."""


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper: a script and the TOML beside it."""

    paper: str
    name: str
    path: Path

    @property
    def key(self) -> str:
        """As the user writes it."""
        return f"{self.paper}/{self.name}"

    @property
    def title(self) -> str:
        """The script's TITLE, read without running it."""
        return self._literal("TITLE", self.name)

    @property
    def uses(self) -> tuple[str, ...]:
        """Experiments of the same paper whose rows this one shows too."""
        return tuple(self._literal("USES", ()))

    def _literal(self, name: str, default: Any) -> Any:
        for node in ast.parse(self.path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and any(
                isinstance(target, ast.Name) and target.id == name for target in node.targets
            ):
                return ast.literal_eval(node.value)
        return default

    def module(self) -> ModuleType:
        """The script, run once per process."""
        return load(self.path)

    def settings(self, size: str = "full") -> "Settings":
        """What the TOML says for a full, quick or tiny run."""
        with self.path.with_suffix(".toml").open("rb") as file:
            table = tomllib.load(file)
        layers = [table]
        if size in ("quick", "tiny"):
            layers.append(table.get("quick", {}))
        if size == "tiny":
            layers.append(table.get("tiny", {}))
        which: dict[str, Any] = {}
        how: dict[str, Any] = {}
        for layer in layers:
            which |= layer.get("trials", {})
            how |= layer.get("settings", {})
        return Settings(int(table["seed"]), which, how, table.get("published", {}))


@dataclass(frozen=True)
class Settings:
    """The entries of a TOML that apply."""

    seed: int
    which: dict[str, Any]
    how: dict[str, Any]
    published: dict[str, Any]

    @property
    def merged(self) -> dict[str, Any]:
        """What scripts get."""
        return {**self.which, **self.how, "published": self.published}

    @property
    def digest(self) -> str:
        """Of what a result depends on besides its trial."""
        text = json.dumps([self.seed, self.how], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def all_experiments(root: Path = ROOT) -> list[Experiment]:
    """Every script that has a TOML beside it, paper by paper."""
    found = [
        Experiment(paper, path.stem.replace("_", "-"), path)
        for paper in PAPERS
        for path in sorted((root / paper.replace("-", "_")).glob("*.py"), key=_reading_order)
        if path.with_suffix(".toml").exists()
    ]
    return found


def chosen(names: tuple[str, ...], root: Path = ROOT) -> list[Experiment]:
    """Experiments by "paper/name", by paper, or "all"; raises for names that mean nothing."""
    known = all_experiments(root)
    picked: list[Experiment] = []
    for name in names:
        matches = [e for e in known if name in ("all", e.paper, e.key)]
        if not matches:
            raise ValueError(
                f"there is no experiment {name!r}: `sparsedp reproduce --list` shows them all"
            )
        picked += [e for e in matches if e not in picked]
    return picked


def load(path: Path) -> ModuleType:
    """The module at this path: of this package, or any other file, run once."""
    path = Path(path).resolve()
    if path.is_relative_to(ROOT):
        parts = path.relative_to(ROOT).with_suffix("").parts
        return importlib.import_module(".".join((PACKAGE, *parts)))
    name = "experiment_" + "_".join(path.with_suffix("").parts[-2:]).replace("-", "_")
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"{path} cannot be loaded")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


def _reading_order(path: Path) -> tuple[bool, str, int]:
    """Tables before figures, figure 4 before figure 11."""
    letters = path.stem.rstrip("0123456789")
    digits = path.stem[len(letters) :]
    return not letters.startswith("table"), letters, int(digits or 0)

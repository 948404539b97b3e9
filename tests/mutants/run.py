"""``python -m tests.mutants.run``: plant every mutant in a scratch copy and run its tests there.

The working tree is never touched. Killed means that a test failed: not an error while importing or
collecting, not a build that broke, not the time limit.
"""

import argparse
import importlib
import os
import pkgutil
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import tests.mutants
from tests.mutants.mutant import Mutant

ROOT = Path(__file__).resolve().parents[2]
KERNELS = Path("src/sparsedp/_kernels")
LEFT_OUT = (".git", ".venv", "build", "__pycache__", ".hypothesis", ".pytest_cache", "*.egg-info")
NOT_A_TEST = re.compile(
    r"\b(ImportError|ModuleNotFoundError|SyntaxError|IndentationError|NameError)\b"
)
SECONDS = 400.0


def every_mutant() -> list[tuple[str, Mutant]]:
    """All lists, each mutant with the name of its list."""
    found = []
    for module in pkgutil.iter_modules(tests.mutants.__path__):
        if module.name not in ("mutant", "run", "test_mutants"):
            mutants = importlib.import_module(f"tests.mutants.{module.name}").MUTANTS
            found += [(module.name, mutant) for mutant in mutants]
    return found


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant."""

    verdict: str
    seconds: float
    output: str = ""


@dataclass(frozen=True)
class Scratch:
    """A copy of the tree, in which one mutant lives at a time."""

    root: Path

    @classmethod
    def of(cls, source: Path, root: Path) -> "Scratch":
        """Copy the tree with its compiled kernels; a second copy of these undoes builds."""
        shutil.copytree(source, root, ignore=shutil.ignore_patterns(*LEFT_OUT))
        shutil.copytree(root / KERNELS, root / "pristine")
        # Optimization changes no result, as there is no fast-math, and takes most of the time.
        build = root / "setup.py"
        build.write_text(build.read_text().replace('"-O3"', '"-O1"'))
        return cls(root)

    def tested(self, targets: list[str], seconds: float) -> tuple[int | None, str]:
        """Exit code of pytest, None beyond the time limit, and what it said."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-rf", "--tb=line"]
        try:
            done = subprocess.run(
                [*command, "-p", "no:cacheprovider", *targets],
                cwd=self.root,
                env=self._environment(),
                capture_output=True,
                text=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None, ""
        return done.returncode, done.stdout + done.stderr

    def outcome(self, mutant: Mutant, seconds: float) -> Outcome:
        """Plant, build, test, and put everything back."""
        started = time.monotonic()
        verdict, output = self._verdict(mutant, seconds)
        return Outcome(verdict, time.monotonic() - started, output)

    def _verdict(self, mutant: Mutant, seconds: float) -> tuple[str, str]:
        problem = mutant.problem(self.root)
        if problem is not None:
            return f"stale: {problem}", ""
        path = self.root / mutant.file
        before, times = path.read_text(), path.stat()
        planted = before.replace(mutant.old, mutant.new)
        try:
            if path.suffix == ".py":
                compile(planted, mutant.file, "exec")
            path.write_text(planted)
            if mutant.builds and not self._built(mutant.builds):
                return "broken: does not compile", ""
            code, output = self.tested(list(mutant.tests), seconds)
        except SyntaxError as error:
            return f"broken: {error}", ""
        finally:
            path.write_text(before)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            if mutant.builds:
                shutil.rmtree(self.root / KERNELS)
                shutil.copytree(self.root / "pristine", self.root / KERNELS)
        return _judged(code, output), output

    def _built(self, builds: tuple[str, ...]) -> bool:
        """Compile these extensions alone: the sources of the others are away until put back."""
        mine = [p for p in (self.root / KERNELS).rglob("*.so") if p.name.split(".")[0] in builds]
        for source in list((self.root / KERNELS).rglob("*.pyx")):
            if source.stem not in builds:
                source.unlink()
        for library in mine:
            library.unlink()
        subprocess.run(
            [sys.executable, "setup.py", "-q", "build_ext", "--inplace", "--force"],
            cwd=self.root,
            env=self._environment(),
            capture_output=True,
            check=False,
        )
        return bool(mine) and all(library.exists() for library in mine)

    def _environment(self) -> dict[str, str]:
        own = {"PYTHONPATH": f"{self.root / 'src'}:{self.root}", "PYTHONDONTWRITEBYTECODE": "1"}
        quick = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "CFLAGS": "-g0"}
        return os.environ | own | quick


def _judged(code: int | None, output: str) -> str:
    if code is None:
        return "time limit"
    failures = [line for line in output.splitlines() if line.startswith("FAILED")]
    if code == 0:
        return "survived"
    if code == 1 and failures and not any(NOT_A_TEST.search(line) for line in failures):
        return "killed"
    return "broken: no test failed, the run did"


def main() -> int:
    """Run what was asked for; the exit code is 1 unless all were killed or are known to survive."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-k", default="", help="only mutants whose list or label has this text")
    parser.add_argument("--jobs", type=int, default=2, help="scratch copies at work at once")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="time limit per mutant")
    parser.add_argument("--list", action="store_true", help="only check that all can be planted")
    parser.add_argument("--no-baseline", action="store_true", help="believe that the tests pass")
    asked = parser.parse_args()
    chosen = [(n, m) for n, m in every_mutant() if asked.k in n or asked.k in m.label]
    stale = [(n, m, m.problem(ROOT)) for n, m in chosen if m.problem(ROOT) is not None]
    for name, mutant, problem in stale:
        print(f"stale     {name}: {mutant.label}: {problem}")
    if asked.list or stale:
        print(f"{len(chosen)} mutants, {len(stale)} stale")
        return 1 if stale else 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        free: queue.SimpleQueue[Scratch] = queue.SimpleQueue()
        for i in range(asked.jobs):
            free.put(Scratch.of(ROOT, Path(folder) / str(i)))
        if not asked.no_baseline and not _baseline(chosen, free, asked.seconds):
            return 1
        return _hunt(chosen, free, asked)


def _baseline(chosen: list[tuple[str, Mutant]], free: queue.SimpleQueue, seconds: float) -> bool:
    """Without a mutant every test must pass, or a kill would mean nothing."""
    scratch = free.get()
    targets = sorted({test for _, mutant in chosen for test in mutant.tests})
    code, output = scratch.tested(targets, 10 * seconds)
    free.put(scratch)
    if code != 0:
        print(f"the tests fail without a mutant:\n{output[-3000:]}")
    return code == 0


def _hunt(
    chosen: list[tuple[str, Mutant]], free: queue.SimpleQueue, asked: argparse.Namespace
) -> int:
    def one(named: tuple[str, Mutant]) -> Outcome:
        scratch = free.get()
        try:
            outcome = scratch.outcome(named[1], asked.seconds)
        finally:
            free.put(scratch)
        print(
            f"{outcome.verdict:9} {outcome.seconds:4.0f} s  {named[0]}: {named[1].label}",
            flush=True,
        )
        return outcome

    with ThreadPoolExecutor(asked.jobs) as pool:
        outcomes = list(pool.map(one, chosen))
    counts = Counter(outcome.verdict.split(":")[0] for outcome in outcomes)
    print(", ".join(f"{n} {verdict}" for verdict, n in counts.most_common()))
    bad = 0
    for (name, mutant), outcome in zip(chosen, outcomes, strict=True):
        if outcome.verdict != "killed":
            bad += not mutant.survives
            print(
                f"\n{outcome.verdict}: {name}: {mutant.label}\n  {mutant.survives or 'not known'}"
            )
            print("  " + "\n  ".join(outcome.output.strip().splitlines()[-4:]))
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""One package into one empty environment, and whether it then does what it says there."""

import json
import os
import resource
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

# A fit of some made-up records that counts what is warned of, and says what the record has.
FIT = """
import json, warnings
import numpy as np
from sparsedp import Bounds, SparseLogisticRegression
X = np.random.default_rng(1).random((200, 3))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("default")
    for _ in range(2):
        model = SparseLogisticRegression(epsilon=1, delta=1e-6, bounds=Bounds(lower=0, upper=1))
        model.set_params(classes=[0, 1]).fit(X, (X[:, 0] > 0.5).astype(int))
slow = sum("fits are slow here" in str(warning.message) for warning in caught)
print(json.dumps({"slow": slow, "kernels": model.privacy_.to_dict()["versions"]["kernels"]}))
"""


class Wrong(Exception):
    """What an installed package does not do."""


@dataclass(frozen=True, kw_only=True)
class Installed:
    """What was measured: seconds, and bytes of the environment."""

    version: str
    form: str
    compiler: bool
    kernels: str
    install: float
    help: float
    demo: float
    size: int
    added: int

    def row(self, package: int) -> str:
        """A line of the table."""
        compiler = "yes" if self.compiler else "no"
        return (
            f"| {self.version} | {self.form} | {compiler} | {self.kernels} | {package / 1e6:.2f} | "
            f"{self.size / 1e6:.0f} | {self.added / 1e6:.0f} | {self.install:.0f} | "
            f"{self.help:.2f} | {self.demo:.1f} |"
        )


HEAD = (
    "| Python | package | compiler | kernels | package (MB) | environment (MB) | ours (MB) | "
    "install (s) | `--help` (s) | demo (s) |\n|---|---|---|---|---|---|---|---|---|---|"
)
REQUIRED = {"SPARSEDP_KERNELS": "required"}  # as wheels are made to be given away
# What whoever uses scikit-learn has anyway; and the installer itself.
THEIRS = ("numpy", "scipy", "sklearn", "scikit_learn", "pip", "setuptools", "pkg_resources")


def surroundings(home: Path, compiler: bool) -> dict[str, str]:
    """Variables of the environment; without a compiler nothing but Python is on the path."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "SPARSEDP"))}
    path = str(home / "bin")
    if not compiler:
        return {**kept, "PATH": path, "CC": "false"}
    return {**kept, "PATH": path + os.pathsep + os.environ["PATH"]}


def run(command: list[str | Path], where: Path, variables: dict[str, str]) -> tuple[str, float]:
    """What a command printed, and how long it took; its end is shown where it failed."""
    start = time.perf_counter()
    done = subprocess.run(command, cwd=where, env=variables, capture_output=True, text=True)
    if done.returncode:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        raise Wrong(f"{' '.join(map(str, command))[:200]}\n{tail}")
    return done.stdout, time.perf_counter() - start


def work(command: list[str | Path], where: Path, variables: dict[str, str]) -> float:
    """Seconds of a processor: others on this machine do not count."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(command, where, variables)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def size_of(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def added_to(home: Path) -> int:
    """Bytes of what is in an environment beyond NumPy, SciPy and scikit-learn."""
    (packages,) = home.glob("lib/python*/site-packages")
    return sum(size_of(path) for path in packages.iterdir() if not path.name.startswith(THEIRS))


def install(python: str, package: Path, compiler: bool, home: Path) -> Installed:
    """Install, and check kernels by three witnesses, the size, the start and the demo."""
    variables = surroundings(home, compiler)
    run([python, "-m", "venv", "--clear", home], home.parent, {**os.environ})
    inside = home / "bin" / "python"
    command = [inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # Under a path of its own, or pip would take the wheel that it made of it with a compiler.
    package = Path(shutil.copy(package, home))
    _, installed = run([*command, package], home, variables)
    package.unlink()
    version, _ = run([inside, "--version"], home, variables)
    says, _ = run([home / "bin" / "sparsedp", "--version"], home, variables)
    kernels = "compiled" if "kernels compiled" in says else "reference"
    wheel = package.suffix == ".whl"
    witness = json.loads(run([inside, "-c", FIT], home, variables)[0])
    if (kernels == "compiled") != (wheel or compiler):
        raise Wrong(f"kernels are {kernels}: {says}")
    if witness != {"slow": int(kernels == "reference"), "kernels": kernels}:
        raise Wrong(f"kernels are {kernels}, and fits say {witness}")
    size, added = size_of(home), added_to(home)
    shortest = min(work([home / "bin" / "sparsedp", "--help"], home, variables) for _ in range(5))
    _, demo = run([home / "bin" / "sparsedp", "demo"], home, variables)
    if not (home / "demo" / "model" / "report.html").exists():
        raise Wrong("the demo wrote no report")
    if added > 60e6 or shortest > 0.3:
        raise Wrong(f"{added / 1e6:.0f} MB and {shortest:.2f} s: at most 60 MB and 0.3 s")
    return Installed(
        version=version.split()[1],
        form="wheel" if wheel else "sdist",
        compiler=compiler,
        kernels=kernels,
        install=installed,
        help=shortest,
        demo=demo,
        size=size,
        added=added,
    )


def check_refusal(python: str, sdist: Path, folder: Path) -> None:
    """No wheel is made without kernels where they are required."""
    home = folder / "builder"
    run([python, "-m", "venv", "--clear", home], folder, {**os.environ})
    pip = [home / "bin" / "python", "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", home]
    try:
        run([*pip, shutil.copy(sdist, home)], folder, {**surroundings(home, False), **REQUIRED})
    except Wrong as error:
        if "'false'" not in str(error):
            raise
        return
    raise Wrong("a wheel without kernels, which were required")


def wheel_of(python: str, sdist: Path, folder: Path) -> Path:
    """The wheel that this Python makes of the source distribution, in an environment of its own."""
    home = folder / "builder"
    run([python, "-m", "venv", "--clear", home], folder, {**os.environ})
    pip = [home / "bin" / "python", "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
    before = set(folder.glob("*.whl"))
    command = [*pip, "--no-deps", "-w", folder, shutil.copy(sdist, home)]
    run(command, folder, {**surroundings(home, True), **REQUIRED})
    shutil.rmtree(home)
    (path,) = set(folder.glob("*.whl")) - before
    return path

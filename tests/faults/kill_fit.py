"""kill -9 at random times into real fits on a ledger (``make kills``).

    python -m tests.faults.kill_fit [--kills 1000] [--seed 1]

Every fit runs in a child that is forked from a parent in which all is loaded and planned, so that
the kills fall into the flow of the command and not into imports. After each one the ledger, the
folder and what is beside it are checked; then ``--resume`` is tried (and killed too, now and then),
and where nothing was left to resume, a new fit.
"""

import argparse
import json
import random
import shutil
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
from click.testing import CliRunner

from sparsedp import Ledger
from sparsedp.cli import main
from sparsedp.cli.folder.output import FILES
from sparsedp.release import PublishedModel
from tests.faults.child import Child, Ended

MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Where the files are: a kill, unlike a power cut, does not ask what has reached the disk."""

RENEWED = 100
"""Kills after which a new ledger is begun: the longer it is, the longer each fit takes."""


class Kills:
    """A folder with data, a ledger and what the fits left, and the rules that must hold."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.chance, self.seen = folder, random.Random(seed), Counter[str]()
        rng = np.random.default_rng(seed)
        X = rng.uniform(-1, 1, (300, 6))
        np.savez(folder / "t.npz", X=X, y=(X[:, 0] > 0).astype(int))
        self.renew()
        # Here and not in a child: what is loaded and planned now is so in all children.
        warm = CliRunner().invoke(main, [*self.fit(str(folder / "old"))])
        assert warm.exit_code == 0, warm.output
        begun = time.monotonic()
        assert self.run(*self.fit("m")).code == 0
        self.seconds = time.monotonic() - begun

    def renew(self) -> None:
        """A new ledger."""
        self.ledger = self.folder / f"ledger-{self.chance.getrandbits(64):x}"
        Ledger(1e6, 0.5, self.ledger)

    def fit(self, output: str) -> list[str]:
        """A fit's arguments."""
        names = [
            str(self.folder / "t.npz"),
            "--bounds",
            "1",
            "--classes",
            "0,1",
            "--ledger",
            str(self.ledger),
        ]
        settings = ["--epsilon", "1", "--delta", "1e-6", "--n-nonzero", "2", "-o", output]
        return ["fit", *names, *settings]

    def run(self, *arguments: str, kill_after: float | None = None) -> Ended:
        """Run a verb to its end, or to a kill."""
        child = Child(list(arguments), self.folder)
        if kill_after is not None:
            time.sleep(kill_after)
            child.send(signal.SIGKILL)
        return child.wait()

    def once(self) -> None:
        """One kill, and everything that must hold after it."""
        output, force = self.folder / "m", self.chance.random() < 0.5
        for path in (output, self.folder / "m.unfinished"):
            shutil.rmtree(path, ignore_errors=True)
        if force:
            shutil.copytree(self.folder / "old", output)
        before = len(Ledger(path=self.ledger).history())
        arguments = [*self.fit("m"), *(["--force"] if force else [])]
        # Half of the kills fall anywhere, half into the end, where files are written and moved.
        share = self.chance.uniform(0, 1.1) if self.chance.random() < 0.5 else None
        share = self.chance.uniform(0.6, 1.1) if share is None else share
        ended = self.run(*arguments, kill_after=share * self.seconds)
        assert ended.code in (0, -signal.SIGKILL), ended
        self.seconds *= 1.01 if ended.code else 0.93  # the machine's load changes: follow it
        charged = self.charged_since(before)
        state = self.state(output, force=force)
        assert ended.code or state == "new", ended
        resumed = self.resume(output, force=force)
        assert self.charged_since(before) == charged, "resuming charged"
        after = self.state(output, force=force)
        assert not (self.folder / "m.unfinished").exists()
        if after == "new":
            self.matches(output, before, charged)
        else:
            assert after == state
        waited = "finished by --resume" if resumed and state != "new" else ""
        pending = "charge pending" if charged and after != "new" else ""
        self.seen[
            f"{state} folder; {waited or pending or ('done' if charged else 'no charge')}"
        ] += 1
        if after != "new" and self.chance.random() < 0.2:
            again = self.run(*arguments)
            assert again.code == 0, again
            assert self.state(output, force=force) == "new"

    def charged_since(self, before: int) -> int:
        """Charges since then, of a ledger that is sound."""
        ledger = Ledger(path=self.ledger)
        ledger.verify()
        charged = len(ledger.history()) - before
        assert charged in (0, 1), charged
        return charged

    def state(self, output: Path, *, force: bool) -> str:
        """What the folder is; anything but these three is an error."""
        if not output.exists():
            assert not force, "the old folder is gone"
            return "no"
        assert sorted(path.name for path in output.iterdir()) == sorted(FILES)
        texts = {name: (output / name).read_bytes() for name in FILES}
        old = {name: (self.folder / "old" / name).read_bytes() for name in FILES}
        same = {name for name in ("model.json", "report.html") if texts[name] == old[name]}
        if same == {"model.json", "report.html"}:
            return "old"
        assert not same, "old and new files are mixed"
        PublishedModel.load(output)
        assert texts["report.html"].rstrip().endswith(b"</html>")
        return "new"

    def resume(self, output: Path, *, force: bool) -> bool:
        """Finish what can be finished, through further kills; whether there was something."""
        stored = (self.folder / "m.unfinished/model/model.json").exists()
        while (self.folder / "m.unfinished").exists() and self.chance.random() < 0.4:
            after = self.chance.uniform(0, 0.5) * self.seconds
            self.run("fit", "--resume", "-o", "m", kill_after=after)
            self.state(output, force=force)
            self.seen["kills of --resume"] += 1
        ended = self.run("fit", "--resume", "-o", "m")
        assert ended.code in (0, 2), ended
        if ended.code == 2:
            assert "no model is waiting" in ended.err, ended
        return stored and ended.code == 0

    def matches(self, output: Path, before: int, charged: int) -> None:
        """The model is that of the one charge, and the ledger knows that it exists."""
        assert charged == 1
        charge = Ledger(path=self.ledger).history()[before]
        receipt = json.loads((output / "model.json").read_text())["privacy"]["ledger"]
        assert receipt["line"] == charge.line
        assert not charge.pending, "the model exists, and its charge is pending"


def kill() -> None:
    """Kill and report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        kills = Kills(Path(name), given.seed)
        for k in range(given.kills):
            if k % RENEWED == RENEWED - 1:
                kills.renew()
            kills.once()
        for what, count in sorted(kills.seen.items()):
            print(f"{count:6}  {what}")
    print(f"{given.kills} kills in {time.monotonic() - begun:.0f} s: nothing lost, nothing mixed")


if __name__ == "__main__":
    kill()

"""``python -m sparsedp.ui.runner FOLDER LOCK``: run the commands of one attempt at a fit.

A process of its own, so that the fit goes on without the server; the handle of the lock is handed
on to the commands, so that it is held as long as any of them lives.
"""

import json
import subprocess
import sys
from pathlib import Path

from sparsedp.ui.journey import write
from sparsedp.ui.running import Ran, process


def main(folder: Path, lock: int) -> None:
    """Run one command after the other, until one is refused."""
    content = json.loads((folder / "commands.json").read_text(encoding="utf-8"))
    for name, command in content["commands"].items():
        printed, said = folder / f"{name}.stdout", folder / f"{name}.stderr"
        with printed.open("wb") as stdout, said.open("wb") as stderr:
            code = subprocess.call(
                process(command),
                cwd=content["root"],
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                pass_fds=(lock,),
            )
        output, errors = (
            path.read_text(encoding="utf-8", errors="replace") for path in (printed, said)
        )
        ran = Ran.of(command, code, output, errors, str(said))
        write(folder / f"{name}.json", ran.to_json())
        if code != 0 and name == "fit":
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))

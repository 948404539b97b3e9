"""A few kills of what ``make kills`` does a thousand times, and Ctrl-C at random times."""

import shutil
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path

import pytest

from sparsedp import Ledger
from tests.faults.child import Child
from tests.faults.kill_fit import MEMORY, Kills


@pytest.fixture(scope="module")
def kills():
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        yield Kills(Path(name), seed=7)


def test_a_killed_fit_loses_nothing(kills):
    for _ in range(15):
        kills.once()
    assert sum(kills.seen.values()) >= 15


def test_ctrl_c_says_how_things_stand(kills):
    """One sentence, exit code 130, and what it says about the charge is so."""
    said, n_late = Counter(), 0
    for k in range(12):
        shutil.rmtree(kills.folder / "m", ignore_errors=True)
        shutil.rmtree(kills.folder / "m.unfinished", ignore_errors=True)
        before = len(Ledger(path=kills.ledger).history())
        child = Child(kills.fit("m"), kills.folder)
        time.sleep(0.02 + kills.seconds * k / 12)
        child.send(signal.SIGINT)
        ended = child.wait()
        charged = Ledger(path=kills.ledger).history()[before:]
        # Between a verb's last line and the end of its process click says so itself.
        late = ended.code == 1 and ended.err == "\nAborted!\n" and "Wrote m/model.json" in ended.out
        n_late += late
        if ended.code == 0 or late:
            assert (kills.folder / "m" / "model.json").exists()
            continue
        assert ended.code == 130, ended
        assert ended.err.count("\n") == 1
        if "Nothing was charged" in ended.err:
            assert not charged
        elif "no model" in ended.err:
            assert [charge.pending for charge in charged] == [True]
        elif "--resume" in ended.err:
            assert len(charged) == 1
            assert kills.run("fit", "--resume", "-o", "m").code == 0
        else:
            assert "is in m, whole" in ended.err or ended.err == "Error: Stopped.\n"
        said[ended.err] += 1
    assert said
    assert n_late <= 1, "that moment is short"

"""The short form of ``make kills``, and what a loss of power leaves of a charge."""

import random

from tests.faults.kill_ledger import charges, creations, crowd
from tests.faults.power import calls, unsafe


def test_a_killed_creation_leaves_no_ledger_or_a_whole_one(tmp_path):
    """Review finding: 146 of 250 kills left a file that was refused for ever."""
    assert sum(creations(20, random.Random(1), tmp_path).values()) == 20


def test_a_killed_charge_is_there_once_or_not_at_all(tmp_path):
    assert charges(15, random.Random(2), tmp_path)["charges"] > 0


def test_many_processes_spend_exactly_the_budget(tmp_path):
    assert crowd(8, 24, tmp_path)["charges"] == 24


def names(open_ends):
    return {(kind, path.split("/")[-1]) for kind, path in open_ends}


def test_a_loss_of_power_takes_nothing_back(tmp_path):
    """Review finding: at level FULL the removal of the journal was not yet on the disk.

    The note beside the ledger would then be ahead of it, and the ledger refused.
    """
    for level, done in calls(tmp_path).items():
        noted = [i for i, call in enumerate(done) if call.other.endswith("l.head")]
        told = [i for i, call in enumerate(done) if call.path.endswith(".told")]
        assert len(noted) == len(told) == 3
        ahead = {end for i in noted for end in names(unsafe(done[:i])) if end[1][0] == "l"}
        ahead.discard(("content", "l.told"))
        assert ahead == (set() if level == "EXTRA" else {("name", "l-journal")})
        for i in told:
            lost = names(unsafe(done[:i]))
            assert not {name for _, name in lost} & {"l", "l-journal", "l.head"}
        named = next(i for i, call in enumerate(done) if call.other.endswith("/l"))
        assert ("content", done[named].path) not in unsafe(done[:named])

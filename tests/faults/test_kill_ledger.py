"""The short form of ``make kills``, and what a loss of power leaves of a charge."""

import random

from tests.faults.kill_ledger import charges, creations, crowd


def test_a_killed_creation_leaves_no_ledger_or_a_whole_one(tmp_path):
    """Review finding: 146 of 250 kills left a file that was refused for ever."""
    assert sum(creations(20, random.Random(1), tmp_path).values()) == 20


def test_a_killed_charge_is_there_once_or_not_at_all(tmp_path):
    assert charges(15, random.Random(2), tmp_path)["charges"] > 0


def test_many_processes_spend_exactly_the_budget(tmp_path):
    assert crowd(8, 24, tmp_path)["charges"] == 24

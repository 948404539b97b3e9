"""The short form of `make fuzz`: damaged files through the command line."""

from tests.fuzz.files import MEMORY, fuzz


def test_damaged_files_are_refused_without_traceback_crash_or_charge():
    failures, peak, endings = fuzz(200, seed=0)
    assert failures == []
    assert peak < MEMORY
    assert sum(endings.values()) == 200
    assert sum(count for ending, count in endings.items() if ending.endswith("2")) > 50

"""Every planted fault fits the code as it is: one that fits nowhere would stop the whole hunt."""

from tests.mutants.run import ROOT, every_mutant


def test_every_mutant_can_be_planted():
    stale = [(m.label, m.problem(ROOT)) for _, m in every_mutant() if m.problem(ROOT) is not None]
    assert stale == []

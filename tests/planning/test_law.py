"""The law belongs to the defaults, and says what a law can say."""

import numpy as np
import pytest

from sparsedp.planning.defaults import constants, fingerprint
from sparsedp.planning.law import LEVELS, Law

KINDS = ("binary", "regression", "multiclass")


def test_the_law_was_measured_with_these_defaults():
    assert Law.read().defaults == fingerprint(), (
        "a default of Pursuit has changed since the planner's law was fitted: run make plan-law"
    )


def test_every_constant_of_the_default_solver_counts(monkeypatch):
    from sparsedp.fit import plan
    from sparsedp.solvers.pursuit import prune

    before = fingerprint()
    assert len(constants()) > 40
    for module, name in ((prune, "EVIDENCE"), (plan, "FEWEST_FEATURES")):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, getattr(module, name) * 2)
            assert fingerprint() != before
    assert fingerprint() == before


def test_an_imported_constant_counts_where_it_is_defined(monkeypatch):
    from sparsedp.solvers.pursuit.calibration import two_classes

    assert "sparsedp.solvers.pursuit.calibration.looks.LARGEST_MEAN" in constants()
    assert "sparsedp.solvers.pursuit.calibration.two_classes.LARGEST_MEAN" not in constants()
    before = fingerprint()
    monkeypatch.setattr(two_classes, "LONGEST_STEP", 5.0, raising=False)  # as an import would
    assert fingerprint() == before


@pytest.mark.parametrize("kind", KINDS)
def test_noise_never_helps(kind):
    law = Law.read().of(kind)
    assert law.kept.shape == (len(law.knots), len(LEVELS))
    assert (np.diff(law.knots) > 0).all()
    assert (np.diff(law.kept, axis=0) <= 0).all()  # louder noise, less is kept
    assert (np.diff(law.kept, axis=1) >= 0).all()  # quantiles
    assert law.index[1] < 0  # more signal, less noise
    assert ((law.used >= 0) & (law.used <= 1)).all()
    assert ((law.real >= 0) & (law.real <= 1)).all()
    assert law.n_groups >= 7

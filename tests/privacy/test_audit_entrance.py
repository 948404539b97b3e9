"""The audit through the public fit: entrances are local, old constructions show nothing, and both
kinds of attack convict what is broken.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from sparsedp.audit import entrance
from sparsedp.audit.constructions import Construction, constructions
from sparsedp.losses import Logistic

ENTRANCES = list(entrance.entrances())
CONSTRUCTIONS = {construction.name: construction for construction in constructions()}


@pytest.mark.parametrize("way", ENTRANCES, ids=lambda way: f"{way.name}, {way.loss}")
def test_no_record_disturbs_another(way):
    result = way.run(0, 0)
    assert (result.verdict, result.fault, result.movement) == ("passed", None, 1.0)


@pytest.mark.parametrize("name", list(CONSTRUCTIONS))
def test_old_constructions_show_nothing(name):
    # Seed 0; on a sound fit a violation has probability 1e-6. Before they were closed, each was
    # violated with 25 runs.
    assert CONSTRUCTIONS[name].run(25, 0).verdict == "passed"


def test_a_conversion_before_the_gate_is_seen():
    def converted(records):
        X, y = entrance._lists(records)
        return X, [repr(label) for label in y] if len(set(map(type, y))) > 1 else y

    way = entrance.Entrance("converted", lambda: entrance._cells(converted), Logistic())
    result = way.run(0, 0)
    assert result.verdict == "contract broken"
    assert result.movement > 1
    assert "other records reach the solver changed" in result.fault


class _Telling:
    """An estimator that tells how many records it saw, or refuses a table with one more."""

    epsilon, delta = 1.0, 1e-6

    def __init__(self, refuses):
        self.refuses = refuses

    def set_params(self, **settings):
        return self

    def fit(self, X, y):
        if self.refuses and len(y) > 3:
            raise ValueError("refused")
        return SimpleNamespace(n=len(y))


@pytest.mark.parametrize(("refuses", "verdict"), [(False, "violated"), (True, "contract broken")])
def test_a_telling_estimator_is_convicted(refuses, verdict):
    tables = (np.zeros((3, 1)), np.zeros(3)), (np.zeros((4, 1)), np.zeros(4))
    attack = Construction("telling", lambda: tables, _Telling(refuses), lambda model: model.n == 3)
    result = attack.run(25, 0)
    assert result.verdict == verdict
    assert refuses or result.epsilon_lower_bound > 1

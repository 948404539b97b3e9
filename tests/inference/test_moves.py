"""What one record moves, for intervals alone: the common tests have all solvers and more pairs."""

import pytest

from tests.privacy.test_every_solver import TOLERANCE, movements


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_no_release_moves_more_than_declared(loss, neighbors):
    worst = movements("intervals", loss, neighbors)
    assert 0.6 < worst["perturb"] <= 1 + TOLERANCE

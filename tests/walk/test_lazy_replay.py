"""Scores along a compiled walk are those of the plain loop, for all losses and layouts."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.losses import Huber, Logistic, Multinomial, Squared
from sparsedp.mechanisms.walk.lazy import scores_along
from sparsedp.sets import L1Ball
from sparsedp.solvers.frank_wolfe.vertex_walk import VertexWalk
from tests.walk.walks import shares

N, D, N_STEPS = 80, 9, 12
LOSSES = {"logistic": Logistic(), "squared": Squared(), "multinomial": Multinomial(3)}


def records(loss, layout, intercept):
    """Records with bounds of their own for every feature, and targets that the loss takes."""
    rng = np.random.default_rng(3)
    X = np.where(rng.random((N, D)) < 0.5, rng.uniform(-1, 1, (N, D)), 0)
    if layout == "binary":
        X, bounds = csr_array((X != 0).astype(float)), Bounds(0, 1)
    else:
        widths = np.linspace(0.5, 3, D)
        X, bounds = X * widths, Bounds(-widths, 2 * widths)
        X = {"dense": np.asarray, "csr": csr_array, "csc": csc_array}[layout](X)
    if loss == "squared":
        return Dataset.clip(
            X, rng.uniform(-1, 1, N), bounds, target_bounds=(-1, 1), intercept=intercept
        )
    classes = range(3) if loss == "multinomial" else (0, 1)
    return Dataset.clip(
        X, rng.integers(0, len(classes), N), bounds, classes=classes, intercept=intercept
    )


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("layout", ["dense", "csr", "csc", "binary"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("persons", [False, True])
def test_scores_along_a_walk_are_those_of_the_plain_loop(loss, layout, intercept, persons):
    data = records(loss, layout, intercept)
    if persons:
        data = replace(data, weights=shares(np.repeat([1, 3, 6], 8)))
    shape = (data.n_columns, 3) if loss == "multinomial" else (data.n_columns,)
    size = int(np.prod(shape))
    steps = 1 / (np.arange(N_STEPS) + 2)
    walk = VertexWalk(
        data, LOSSES[loss], L1Ball(20.0), steps, shape, clip=0.3, bound=None, mode="auto"
    )
    vertices = np.random.default_rng(4).integers(0, 2 * size, N_STEPS)
    found = scores_along(walk.compact(), vertices)
    assert found.shape == (N_STEPS, size)
    for scores, vertex in zip(found, vertices, strict=True):
        # Entries, derivatives and with them margins are off by half a unit of 2^-14 or so.
        np.testing.assert_allclose(scores, walk.scores(), atol=N * 20 * 2.0**-14)
        walk.advance(int(vertex))


def test_the_kernel_takes_no_loss_whose_residuals_end_before_the_bound():
    # A published calibration declares a bound of one, whatever the loss. Clipped to that, residuals
    # of Huber's loss would be those of the squared one.
    data = records("squared", "dense", True)
    how = {"clip": 0.5, "bound": 1.0, "mode": "auto"}
    walk = L1Ball(20.0), np.full(3, 0.5), (data.n_columns,)
    assert VertexWalk(data, Squared(), *walk, **how).compact() is not None
    assert VertexWalk(data, Huber(0.25), *walk, **how).compact() is None
    assert VertexWalk(data, Huber(1.0), *walk, **how).compact() is not None

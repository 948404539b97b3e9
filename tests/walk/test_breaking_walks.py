"""Constructions that broke earlier kernels: one record decided between two vertices.

Columns a1 = a2 on m rows with y = 1, b on these and on m rows with y = 0, c on m - 40 other rows
with y = 1; the neighbor has one record more. After a step to a1 the old envelope gave c no weight
on one of the two tables: at a claim of 1 at least 3.98 was spent.

Centered sparse columns were stored in full or not by how many records have an entry, and margins
were rounded once or twice. Where that decides about a whole number, one record more moved the
derivative of all others: 40 * 2**14 of them moved a score by 41 times what was declared, and at
a claim of 1 the third vertex was another one with probability 0.97 instead of 0.03.
"""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import beta

from sparsedp import Bounds, SparseLogisticRegression
from sparsedp._kernels import COMPILED
from sparsedp._kernels.walk import reference
from sparsedp._kernels.walk.records import ONE
from sparsedp.data.dataset import Dataset
from sparsedp.losses import Logistic
from sparsedp.privacy import PublicFacts
from sparsedp.solvers import FrankWolfe
from sparsedp.solvers.frank_wolfe.compact import compact_columns
from tests.solved import solved
from tests.walk.walks import breaking

FALSE_ALARM = 1e-8
C = 3
KERNELS = [reference]
if COMPILED:
    from sparsedp._kernels.walk import kernel

    KERNELS.append(kernel)


def tables(m, behind):
    """The two neighbors."""
    case = breaking(m, behind)
    more = np.vstack([case.X, [1.0, 0.0, 0.0, 0.0]]), np.append(case.y, 1)
    return (case.X, case.y), more


def chosen_by_the_solver(X, y, epsilon, mode, n_fits):
    """How often c is the second vertex."""
    data = Dataset.clip(X, y, Bounds(-1, 1), intercept=False)
    solver = FrankWolfe(radius=20.0, n_steps=2, mode=mode)
    public = PublicFacts(
        n_features=4,
        n_nonzero=2,
        n_outputs=1,
        intercept=False,
        neighbors="add_remove",
        n_records=None,
    )
    found = 0
    for seed in range(n_fits):
        model = solved(solver, data, Logistic(), public, epsilon=epsilon, seed=seed)
        found += model.weights[C] != 0
    return int(found)


def assert_close(one, other, n_fits, epsilon):
    """Confidence limits of the probabilities must leave room for epsilon and delta."""
    for a, b in ((one, other), (other, one)):
        for few, many in ((a, b), (n_fits - a, n_fits - b)):
            most = beta.ppf(1 - FALSE_ALARM, few + 1, n_fits - few) if few < n_fits else 1.0
            least = beta.ppf(FALSE_ALARM, many, n_fits - many + 1) if many else 0.0
            assert least <= np.exp(epsilon) * most + 1e-6, (one, other)


@pytest.mark.parametrize(("m", "epsilon"), [(4000, 1.0), (40_000, 0.1)])
@pytest.mark.parametrize("layout", [csr_array, np.asarray])
@pytest.mark.parametrize("mode", ["auto", "lazy"])
def test_one_record_does_not_decide_between_vertices(m, epsilon, layout, mode):
    one, other = (chosen_by_the_solver(layout(X), y, epsilon, mode, 80) for X, y in tables(m, 40))
    assert_close(one, other, 80, epsilon)


def test_one_record_does_not_decide_through_the_estimator():
    counts = []
    for X, y in tables(4000, 40):
        found = 0
        for seed in range(80):
            model = SparseLogisticRegression(
                epsilon=1.0,
                delta=1e-6,
                bounds=Bounds(-1, 1),
                solver=FrankWolfe(radius=20.0, n_steps=2),
                fit_intercept=False,
                classes=[0, 1],
                random_state=seed,
            )
            found += model.fit(csr_array(X), y).coef_.ravel()[C] != 0
        counts.append(int(found))
    one, other = counts
    assert_close(one, other, 80, 1.0)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("loss", "radius", "entry"),
    [
        ("logistic", 3.922895603012857, 1311),
        ("squared", 1.1073329784402448, 2401),
        ("squared", 0.8105008417508418, 5000),
    ],
)
def test_one_record_more_moves_no_other_derivative(kernel, loss, radius, entry):
    """Scores add up over records to the last bit, also where a column ceases to be stored in full.

    Steps to minus b and minus a take the margin of the first record to where its derivative is
    rounded up or down by the last bit; one of six records has an a, then one of seven.
    """
    X = np.full((7, 3), 0.5)
    X[:, 0], X[0] = 0.0, (1.0, (entry / ONE + 1) / 2, 0.5)
    y, how = np.array([0, 0, 1, 0, 1, 0, 1]), {}
    if loss == "squared":
        y, how = 0.0 * y, {"target_bounds": (-1, 1)}

    def scores(which):
        data = Dataset.clip(csr_array(X[which]), y[which], Bounds(0, 1), **how)
        columns = compact_columns(data).columns
        steps, vertices = 1 / (np.arange(3) + 2.0), np.array([5, 4, 7])
        return kernel.scores_along(columns, loss, 1, 0.5, radius, steps, vertices)

    apart = sum(scores(slice(i, i + 1)) for i in range(7))
    np.testing.assert_array_equal(scores(slice(7)), apart)
    np.testing.assert_array_equal(scores(slice(7)), scores(slice(6)) + scores(slice(6, 7)))

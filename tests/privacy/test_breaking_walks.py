"""A construction that broke an earlier kernel: one record decided between two vertices.

Columns a1 = a2 on m rows with y = 1, b on these and on m rows with y = 0, c on m - 40 other rows
with y = 1; the neighbor has one record more. After a step to a1 the old envelope gave c no weight
on one of the two tables: at a claim of 1 at least 3.98 was spent.
"""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import beta

from sparsedp import Bounds, SparseLogisticRegression
from sparsedp.data.dataset import Dataset
from sparsedp.losses import Logistic
from sparsedp.mechanisms import KeyStream, NoisyCurator
from sparsedp.privacy import Budget, PublicFacts
from sparsedp.solvers import FrankWolfe
from tests.numerics.walks import breaking

FALSE_ALARM = 1e-8
C = 3


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
        budget = Budget(
            solver.schedule(public), epsilon=epsilon, delta=1e-6, neighbors="add_remove"
        )
        curator = NoisyCurator(budget, public, KeyStream.from_seed(seed))
        found += solver.solve(data, Logistic(), curator).weights[C] != 0
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
    assert_close(*counts, 80, 1.0)

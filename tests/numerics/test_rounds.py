"""Frank-Wolfe on blocks in few rounds: the distribution of brute force, and bounds that hold.

Each chi-square test compares the vertices of one step, or of two consecutive steps, with those of
the plain loop written in NumPy. Seeds are fixed; a test fails below p = 1e-6, its false-alarm rate.
"""

import math

import numpy as np
import pytest
from scipy import sparse

from sparsedp import Ledger, RecordBlocks, SparseLogisticRegression
from sparsedp.data.bounds import Bounds
from sparsedp.data.by_columns import by_columns, column_norms
from sparsedp.data.local import Machine
from sparsedp.losses import Logistic, Multinomial, Squared
from sparsedp.mechanisms import KeyStream, proposals, rounds
from sparsedp.mechanisms.proposals import ExponentialNoise, LaplaceNoise
from sparsedp.mechanisms.rounds import walk_in_rounds
from sparsedp.privacy import PublicFacts
from sparsedp.sets import L1Ball
from sparsedp.solvers import FrankWolfe
from sparsedp.solvers.block_walk import BlockWalk, Reference
from tests.numerics.test_lazy import (
    BOUND,
    FALSE_ALARM,
    LOSSES,
    RADIUS,
    STEPS,
    brute_force,
    p_values,
    table,
)

STEEPNESS = 0.3
N_WALKS = 250


class NearWalk(BlockWalk):
    """The same walk, its questions answered by dense arithmetic: thousands of walks are needed."""

    def __init__(self, data, loss, steps):
        super().__init__(data, loss, L1Ball(RADIUS), steps, BOUND)
        self.features = data.columns(np.arange(data.n_columns))
        self.target, self.n_asked, self.n_questions = data.target, 0, 0

    def ask(self, questions, references):
        self.n_asked += 1
        self.n_questions += len(questions)
        self._references = []
        for point in references:
            margins, scores = self.look(point)
            length = float(np.linalg.norm(margins))
            self._references.append(Reference(point, scores[self._entries], length))
        return [float(self.look(point)[1][entry]) for point, entry in questions]

    def look(self, point):
        """Margins and all scores at a point."""
        weights = np.zeros(len(self.limits))
        entries = list(self._slots)[: len(point.weights)]
        weights[entries] = point.weights
        if self._n_outputs > 1:
            weights = weights.reshape(-1, self._n_outputs)
        margins = self.features @ weights
        derivative = self._loss.clipped(self._loss.derivative(margins, self.target), BOUND)
        return margins, -(self.features.T @ derivative).ravel()


PATHS = {
    "usual": {},
    "light": {"light": 2.0},
    "one guess": {"light": 0.0, "patience": 1},
    "seldom loose": {"light": 0.0, "loose": 12.0},
    "often loose": {"light": 0.0, "loose": 1.3},
    "in integers": {"margin": 0.5, "n_walks": 150},
}


def walks(walk, laplace, seed, *, n_walks=N_WALKS, **how):
    noise = LaplaceNoise(1 / STEEPNESS) if laplace else ExponentialNoise(STEEPNESS, 1.0)
    stream = KeyStream.from_seed(seed)
    return np.array([walk_in_rounds(walk, noise, stream, **how) for _ in range(n_walks)])


@pytest.mark.parametrize(
    ("loss", "layout", "laplace", "paths"),
    [
        ("logistic", "sparse", False, PATHS),
        ("logistic", "constant", True, PATHS),
        ("squared", "csc", False, ["usual"]),
        ("multinomial", "sparse", False, ["usual"]),
    ],
)
def test_the_distribution_of_brute_force(monkeypatch, loss, layout, laplace, paths):
    data, _ = table(loss, layout)
    X = data.columns(np.arange(data.n_columns))
    steps = 2 / (np.arange(STEPS) + 3) if laplace else 1 / (np.arange(STEPS) + 2)
    expected = brute_force(X, data.target, loss, STEEPNESS, steps, laplace, seed=3)
    n_vertices = 2 * X.shape[1] * LOSSES[loss][1]
    for number, path in enumerate(paths):
        how = dict(PATHS[path])
        monkeypatch.setattr(rounds, "LOOSE", how.pop("loose", 6.0))
        monkeypatch.setattr(proposals, "MARGIN", how.pop("margin", 2.0**-36))
        walk = NearWalk(data, LOSSES[loss][0], steps)
        found = walks(walk, laplace, number, **how)
        assert min(p_values(found, expected, n_vertices)) > FALSE_ALARM, path
        assert walk.n_asked > 0, path
        assert path == "often loose" or walk.n_questions > 0, path


def test_guesses_that_nobody_checks_are_convicted(monkeypatch):
    data, _ = table("logistic", "sparse")
    X = data.columns(np.arange(data.n_columns))
    steps = 1 / (np.arange(STEPS) + 2)
    expected = brute_force(X, data.target, "logistic", STEEPNESS, steps, False, seed=3)
    monkeypatch.setattr(rounds, "likely", lambda noise, proposal, log_weight: True)
    monkeypatch.setattr(ExponentialNoise, "accepts", lambda self, proposal, score, stream: True)
    found = walks(NearWalk(data, Logistic(), steps), False, 1, n_walks=1_000, light=2.0)
    assert min(p_values(found, expected, 2 * X.shape[1])) < FALSE_ALARM


@pytest.mark.parametrize("layout", ["dense", "sparse", "shifted", "constant"])
@pytest.mark.parametrize("loss", list(LOSSES))
def test_scores_stay_within_their_bounds(loss, layout):
    """Also seen from points that are not on the walk."""
    data, _ = table(loss, layout)
    rng = np.random.default_rng(7)
    n_steps = 40
    for steps in (2 / (np.arange(n_steps) + 3), 1 / (np.arange(n_steps) + 2)):
        walk = NearWalk(data, LOSSES[loss][0], steps)
        size = len(walk.limits)
        walk.follow(np.arange(size))
        points = [walk.start]
        for t in range(n_steps):
            points.append(walk.moved(points[-1], int(rng.integers(2 * size))))
            if t % 7 == 6:
                aside = walk.moved(points[-2], int(rng.integers(2 * size)))
                walk.ask([], [points[-3], aside])
            for reference in walk._references:
                walk._reference = reference
                centers, widths = walk.around(walk.drift(points[-1]))
                _, scores = walk.look(points[-1])
                assert (np.abs(scores - centers) <= widths).all()
                assert (np.abs(scores) <= walk.limits).all()


@pytest.mark.parametrize("layout", ["dense", "sparse", "csc", "shifted", "constant"])
def test_norms_of_columns(layout):
    data, _ = table("logistic", layout)
    X = data.columns(np.arange(data.n_columns))
    for block in (data, by_columns(data)):
        sums, squares = column_norms(block)
        np.testing.assert_allclose(sums, np.abs(X).sum(axis=0), rtol=1e-12)
        np.testing.assert_allclose(squares, (X**2).sum(axis=0), rtol=1e-12)


def blocks(X, y, classes=(0, 1), **how):
    records = RecordBlocks.from_arrays(X, y, rows_per_block=17)
    return records.clip(Bounds(-1, 1), classes=classes, **how)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("loss", [Logistic(), Squared(), Multinomial(3)])
def test_a_score_is_one_number(loss, layout):
    """Whatever it is asked together with, and close to the gradient of the plain loop."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((60, 9)) < 0.5, rng.uniform(-1, 1, (60, 9)), 0)
    y = rng.integers(0, 3 if loss.n_outputs > 1 else 2, 60)
    data = blocks(
        X if layout == "dense" else sparse.csr_array(X), y, classes=range(max(2, loss.n_outputs))
    )
    steps = 1 / (np.arange(6) + 2)
    ball, reach = L1Ball(2.0), 0.5
    walk = BlockWalk(data, loss, ball, steps, reach)
    size = len(walk.limits)
    walk.follow(np.arange(0, size, 2))
    shape = (10, loss.n_outputs) if loss.n_outputs > 1 else (10,)
    point, weights = walk.start, np.zeros(shape)
    for t, vertex in enumerate([3, size + 5, size - 1, 3, 0]):
        point = walk.moved(point, vertex)
        weights = ball.step_toward(weights, vertex, steps[t])
        expected = ball.scores(loss.gradient(data, weights, reach))
        every = walk.ask([(point, entry) for entry in range(size)], [point])
        np.testing.assert_allclose(every, expected, rtol=1e-12, atol=1e-12)
        walk.anchor(point)
        assert walk.around(0.0)[0].tobytes() == np.array(every)[::2].tobytes()
        for entry in (1, 4, size - 1):
            others = [(walk.start, 0), (point, entry), (point, 2)]
            assert walk.ask(others, [])[1] == every[entry]


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_where_blocks_are_cut_changes_nothing(layout):
    rng = np.random.default_rng(2)
    X = np.where(rng.random((90, 6)) < 0.5, rng.uniform(-1, 1, (90, 6)), 0)
    y, X = (X[:, 0] > X[:, 1]).astype(int), X if layout == "dense" else sparse.csr_array(X)
    found = []
    for how in ({"rows_per_block": 90}, {"rows_per_block": 17, "n_threads": 2}):
        model = SparseLogisticRegression(
            epsilon=5.0,
            delta=1e-3,
            bounds=1.0,
            classes=(0, 1),
            solver=FrankWolfe(n_steps=30),
            random_state=1,
        )
        found.append(model.fit(RecordBlocks.from_arrays(X, y, **how)).coef_)
    np.testing.assert_array_equal(*found)


@pytest.mark.filterwarnings("ignore:published calibration")
def test_few_passes_and_one_charge(monkeypatch):
    """A thousand steps over text-like records, at the noise of the paper and at ours."""
    rng = np.random.default_rng(0)
    n, d = 3_000, 2_000
    X = sparse.random_array((n, d), density=0.01, rng=rng, format="csr")
    y = (X[:, :50].sum(axis=1) > X[:, 50:100].sum(axis=1)).astype(int)
    records = RecordBlocks.from_arrays(X, y, rows_per_block=1_000)
    machines = []
    start = Machine.__init__
    monkeypatch.setattr(
        Machine, "__init__", lambda self, *how: (machines.append(self), start(self, *how))[1]
    )
    ledger = Ledger(9.0, 1e-2)
    for calibration in ("sound", "published"):
        solver = FrankWolfe(radius=50.0, n_steps=1_000, calibration=calibration)
        model = SparseLogisticRegression(
            epsilon=1.0,
            delta=1 / n,
            bounds=1.0,
            classes=(0, 1),
            fit_intercept=False,
            solver=solver,
            random_state=3,
            ledger=ledger if calibration == "sound" else None,
        )
        model.fit(records)
        assert machines[-1].n_passes <= 60
    assert len(ledger.history()) == 1


@pytest.mark.parametrize(
    ("how", "runs"),
    [
        ({}, True),
        ({"mode": "full"}, False),  # every score in every step, for those who mind the time
        ({"clip": math.inf}, False),  # no one bound on derivatives
        ({"calibration": "published"}, True),
    ],
)
def test_when_it_runs(how, runs):
    data = blocks(np.ones((40, 2)), np.arange(40) % 2)
    found = []

    class Door:
        noiseless = False
        public = PublicFacts(
            n_features=2,
            n_nonzero=1,
            n_outputs=1,
            intercept=True,
            neighbors="add_remove",
            n_records=None,
        )

        def select_along(self, walk, count, *, name=None):
            found.append(walk.in_rounds())
            return np.zeros(count, dtype=np.int64)

    FrankWolfe(n_steps=3, **how).solve(data, Logistic(), Door())
    assert isinstance(found[0], BlockWalk) == runs

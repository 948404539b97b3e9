"""Frank-Wolfe on blocks in few rounds: the law of the plain loop, and bounds that hold.

Laws of whole walks are compared with probabilities enumerated in NumPy, by chi-square. Seeds are
fixed; a comparison fails below p = 1e-7, fewer than ten of them make a test, so that its
false-alarm rate is at most 1e-6.
"""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, log_softmax, softmax
from scipy.stats import binom, chi2

from sparsedp import Ledger, RecordBlocks, SparseLogisticRegression
from sparsedp.data.blocks.local import Machine
from sparsedp.data.bounds import Bounds
from sparsedp.data.columns.transposed import by_columns, column_norms
from sparsedp.data.dataset import Dataset
from sparsedp.data.sums.losses import gradient_sum
from sparsedp.data.sums.weighed import weighed
from sparsedp.losses import Logistic, Multinomial, Squared
from sparsedp.mechanisms import KeyStream
from sparsedp.mechanisms.samplers.exact import is_below
from sparsedp.mechanisms.walk import proposals, rounds
from sparsedp.mechanisms.walk.envelope import Levels
from sparsedp.mechanisms.walk.proposals import ExponentialNoise, LaplaceNoise, Proposal, certain
from sparsedp.mechanisms.walk.rounds import walk_in_rounds
from sparsedp.privacy import PublicFacts
from sparsedp.sets import L1Ball
from sparsedp.solvers import FrankWolfe, MultinomialLasso, Screened, Sparsifier
from sparsedp.solvers.frank_wolfe.block_walk import BlockWalk, Reference

FALSE_ALARM = 1e-7
BOUND, RADIUS = 0.5, 3.0
LOSSES = {"logistic": Logistic(), "squared": Squared(), "multinomial": Multinomial(3)}


def table(loss, layout="dense", n=14, seed=1):
    """Records with ties: equal columns, negated ones, an empty one; "persons" have several rows."""
    rng = np.random.default_rng(seed)
    a, b = rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], size=(2, n))
    columns = [a, a, -a, b, 0 * a] if loss != "multinomial" else [a, a, b]
    X = np.column_stack(columns)
    how = {"classes": range(3) if loss == "multinomial" else (0, 1)}
    y = rng.integers(0, 3 if loss == "multinomial" else 2, n)
    if loss == "squared":
        y, how = np.clip(rng.normal(size=n), -1, 1), {"target_bounds": (-1, 1)}
    bounds = Bounds(0, 1) if layout == "shifted" else Bounds(-1, 1)
    storage = X if layout == "dense" else sparse.csr_array(X)
    data = Dataset.clip(
        storage, y, bounds, intercept=layout in ("shifted", "constant", "persons"), **how
    )
    shares = np.append(np.array([0.5, 0.25, 1.0, 0.0, 0.125]).repeat(n // 5), np.ones(n % 5))
    return replace(data, weights=shares) if layout == "persons" else data


def gradient_scores(X, y, loss, weights, shares=None):
    """Scores of the positive vertices, as the plain loop has them."""
    margins = X @ weights
    if loss == "logistic":
        r = np.clip(expit(margins) - y, -BOUND, BOUND)
    elif loss == "squared":
        r = np.clip(margins - y, -BOUND, BOUND)
    else:
        r = softmax(margins, axis=1) - (np.arange(3) == y[:, None])
        r *= np.minimum(1, BOUND / np.abs(r).max(axis=1, keepdims=True))
    return -(X.T @ weighed(r, shares)).ravel()


def laplace_law(heights):
    """Probability of each to be the largest after Laplace noise, by quadrature."""
    z = np.linspace(heights.max() - 40, heights.max() + 40, 8_001)
    t = z - heights[:, None]
    density = 0.5 * np.exp(-np.abs(t))
    log_below = np.where(t < 0, t - math.log(2), np.log1p(-0.5 * np.exp(-np.maximum(t, 0))))
    wins = (density * np.exp(log_below.sum(axis=0) - log_below)).sum(axis=1)
    return wins / wins.sum()


def law(data, loss, steepness, steps, laplace=False):
    """Probabilities of all walks, by the vertices as digits."""
    X = data.columns(np.arange(data.n_columns))
    shape = (X.shape[1], 3) if loss == "multinomial" else (X.shape[1],)

    def onward(weights, left):
        scores = steepness * gradient_scores(X, data.target, loss, weights, data.weights)
        both = np.concatenate([scores, -scores])
        chances = laplace_law(both) if laplace else np.exp(log_softmax(both))
        if len(left) == 1:
            return chances
        found = []
        for vertex, chance in enumerate(chances):
            moved = (1 - left[0]) * weights
            moved.reshape(-1)[vertex % scores.size] += (
                left[0] * RADIUS * (1 if vertex < scores.size else -1)
            )
            n_after = len(chances) ** (len(left) - 1)
            later = onward(moved, left[1:]) if chance > 1e-9 else np.full(n_after, 1 / n_after)
            found.append(chance * later)
        return np.concatenate(found)

    return onward(np.zeros(shape), steps)


def p_value(found, chances, n_vertices):
    """Of walks, if each has its probability: chi-square, and rare ones by their number."""
    places = np.zeros(len(found), dtype=np.int64)
    for step in found.T:
        places = places * n_vertices + step
    counts, expected = np.bincount(places, minlength=len(chances)), len(found) * chances
    common = expected >= 5
    n_rare = counts[~common].sum()
    rare = binom.sf(n_rare - 1, len(found), min(1.0, chances[~common].sum() + 1e-9))
    if not common.any():
        return float(rare)
    seen, thought = counts[common], expected[common]
    thought = thought * seen.sum() / thought.sum()
    p = chi2.sf(((seen - thought) ** 2 / thought).sum(), max(1, common.sum() - 1))
    return float(min(p, rare))


class NearWalk(BlockWalk):
    """The same walk, its questions answered by dense arithmetic: thousands of walks are needed."""

    def __init__(self, data, loss, steps):
        super().__init__(data, LOSSES[loss], L1Ball(RADIUS), steps, BOUND)
        self.features = data.columns(np.arange(data.n_columns))
        self.target, self.loss_name, self.shares = data.target, loss, data.weights
        self.n_asked = self.n_questions = self.n_all = 0

    def ask(self, questions, references):
        self.n_asked += 1
        self.n_questions += len(questions)
        self._references = []
        for point in references:
            margins, scores = self.look(point)
            length = float(np.linalg.norm(margins))
            self._references.append(Reference(point, scores[self._entries], length))
        return [float(self.look(point)[1][entry]) for point, entry in questions]

    def scores(self, point):
        self.n_all += 1
        return self.look(point)[1]

    def look(self, point):
        """Margins and all scores at a point."""
        weights = np.zeros(len(self.limits))
        entries = list(self._slots)[: len(point.weights)]
        weights[entries] = point.weights
        if self._n_outputs > 1:
            weights = weights.reshape(-1, self._n_outputs)
        scores = gradient_scores(self.features, self.target, self.loss_name, weights, self.shares)
        return self.features @ weights, scores


PATHS = {
    "usual": {},
    "light": {"light": 2.0},
    "one guess": {"light": 0.0, "patience": 1},
    "often loose": {"light": 0.0, "loose": 1.3},
    "few tries": {"light": 0.0, "most_tries": 2},
    "all scores": {"most_tries": 0},
    "in integers": {"margin": 0.5},
}


def walks(walk, laplace, seed, steepness, *, n_walks=300, **how):
    noise = LaplaceNoise(1 / steepness) if laplace else ExponentialNoise(steepness, 1.0)
    stream = KeyStream.from_seed(seed)
    return np.array([walk_in_rounds(walk, noise, stream, **how) for _ in range(n_walks)])


STEPS = np.array([0.5, 1 / 3])


@pytest.mark.parametrize(
    ("loss", "layout", "laplace", "steepness", "paths"),
    [
        ("logistic", "dense", False, 0.6, PATHS),
        ("logistic", "constant", True, 0.6, PATHS),
        ("squared", "dense", False, 0.6, ["usual"]),
        ("multinomial", "sparse", False, 0.6, ["usual", "all scores"]),
        ("logistic", "shifted", False, 0.05, ["usual", "light"]),
        ("logistic", "dense", False, 20.0, PATHS),
        ("squared", "sparse", True, 300.0, ["usual", "few tries", "all scores"]),
        ("squared", "dense", False, 1e3, ["usual", "few tries"]),
        ("logistic", "dense", False, 1e5, PATHS),
        ("multinomial", "dense", False, 1e5, ["usual"]),
        ("logistic", "dense", False, 1e12, ["usual", "all scores"]),
        ("logistic", "dense", True, 1e12, ["usual", "all scores"]),
        ("logistic", "persons", False, 2.0, ["usual", "one guess", "all scores"]),
    ],
)
def test_the_law_of_the_plain_loop(monkeypatch, loss, layout, laplace, steepness, paths):
    """However steep: on the old arithmetic walks of a steepness of 1e5 did not end, or crashed."""
    data = table(loss, layout)
    chances = law(data, loss, steepness, STEPS, laplace)
    n_vertices = round(math.sqrt(len(chances)))
    for number, path in enumerate(paths):
        how = dict(PATHS[path])
        monkeypatch.setattr(rounds, "LOOSE", how.pop("loose", 6.0))
        monkeypatch.setattr(proposals, "MARGIN", how.pop("margin", 2.0**-36))
        walk = NearWalk(data, loss, STEPS)
        found = walks(walk, laplace, number, steepness, **how)
        assert p_value(found, chances, n_vertices) > FALSE_ALARM, path
        assert path != "all scores" or walk.n_all == 2 * len(found)


@pytest.mark.parametrize("planted", ["unchecked", "no drift"])
def test_planted_mistakes_are_convicted(monkeypatch, planted):
    data, steepness = table("logistic"), 0.6
    chances = law(data, "logistic", steepness, STEPS)
    how = {"light": 0.0}
    if planted == "unchecked":
        monkeypatch.setattr(rounds, "certain", lambda *_: None)
        monkeypatch.setattr(rounds, "likely", lambda *_: True)
        monkeypatch.setattr(ExponentialNoise, "accepts", lambda *_: True)
        how = {"light": 1e9}
    else:
        monkeypatch.setattr(NearWalk, "drift", lambda self, point: 0.0)
    found = walks(NearWalk(data, "logistic", STEPS), False, 1, steepness, n_walks=600, **how)
    assert p_value(found, chances, round(math.sqrt(len(chances)))) < FALSE_ALARM


@pytest.mark.parametrize("rate", [0.0, 1e-12, 1e-3, 1.0, 1e5, 1e300])
def test_envelopes_dominate_weights(rate):
    """In rational arithmetic, for gaps of any size; the sum stays below 2**62."""
    rng = np.random.default_rng(3)
    gaps = np.concatenate([[0, 0.5], rng.uniform(0, 60, 40), 10.0 ** rng.uniform(-9, 18, 60)])
    highs = 1e6 - gaps
    levels = Levels(highs, rate, n_more=7, high_of_more=-3.5)
    assert sum(levels.number(i) for i in range(len(highs) + 7)) == levels.total < 2**62
    stream = KeyStream.from_seed(1)
    for i, high in enumerate([*highs, -3.5]):
        below = Fraction(rate) * (Fraction(high) - levels.top)
        assert below <= 0
        # A variable just above the envelope is not below the weight.
        share = Fraction(1 << levels.octaves, levels.number(i))
        if below > -60:
            weight = math.exp(float(below)) * float(share)
            assert weight <= 1 + 1e-12
            assert weight >= 0.84 * (1 - 1e-9) or levels.number(i) == 1 or rate * 1 > 0.1
    seen = {levels.draw(stream) for _ in range(400)}
    assert all(levels.number(candidate) == number for candidate, number in seen)


def test_nothing_is_proposed_by_scores_that_are_not_numbers():
    for bad in (math.nan, math.inf):
        with pytest.raises(ArithmeticError, match="finite"):
            Levels(np.array([1.0, bad]), 1.0)


@pytest.mark.parametrize("below", [0.0, 1e-3, 40.0, 1e5, 1e9])
def test_decisions_in_doubles_are_those_in_integers(below):
    """Words next to the probability, at gaps where a fixed margin of 2**-36 is too small."""
    noise = ExponentialNoise(1.0, 1.0)
    units = -round(below / noise.rate)
    exponent = noise._rate * units
    middle = min(2**64 - 1, round(math.exp(max(float(exponent), -50)) * 2**64))
    stream = KeyStream.from_seed(1)
    n_decided = 0
    for offset in (0, 1, -1, 2**10, -(2**10), 2**20, -(2**20), 2**40, -(2**40)):
        word = min(max(middle + offset, 0), 2**64 - 1)
        for step in (-1, 0, 1):
            near = units + step * 2**20
            proposal = Proposal(0, 1 << 40, 40, max(0, near), word, math.inf)
            decided = certain(noise, proposal, near, near)
            if decided is not None:
                n_decided += 1
                gap = noise._rate * (near - proposal.top)
                assert is_below(word, gap, Fraction(1), stream) == decided
    assert n_decided


def test_a_margin_grows_with_what_is_subtracted():
    """The error of a product in doubles is relative: 2**-36 does not cover it beyond 2**17."""
    noise = ExponentialNoise(1e5, 1.0)
    proposal = Proposal(0, 1, 40, 2**40, 1, math.inf)
    below, error = noise.log_probability(proposal, 0)
    assert abs(below) > 2**17
    exact = noise._rate * -(2**40) + Fraction(40 * math.log(2))
    assert abs(Fraction(below) - exact) < Fraction(error)
    assert error >= 2.0**-50 * abs(below)


@pytest.mark.parametrize("layout", ["dense", "sparse", "shifted", "constant", "persons"])
@pytest.mark.parametrize("loss", list(LOSSES))
def test_scores_stay_within_their_bounds(loss, layout):
    """Also seen from points that are not on the walk."""
    data = table(loss, layout, n=60)
    rng = np.random.default_rng(7)
    n_steps = 40
    with_one = 1 / (np.arange(n_steps) + 2)
    with_one[[0, 11]] = 1.0
    for steps in (2 / (np.arange(n_steps) + 3), 1 / (np.arange(n_steps) + 2), with_one):
        walk = NearWalk(data, loss, steps)
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
                drift = walk.drift(points[-1])
                assert drift > 0 or reference.point is points[-1]
                centers, widths = walk.around(drift)
                _, scores = walk.look(points[-1])
                assert (np.abs(scores - centers) <= widths).all()
                assert (np.abs(scores) <= walk.limits).all()


@pytest.mark.parametrize("layout", ["dense", "sparse", "shifted", "constant"])
@pytest.mark.parametrize("persons", [False, True])
def test_norms_of_columns(layout, persons):
    data = table("logistic", layout)
    shares = np.rint(np.linspace(0, 2**30, data.n_records)) / 2**30
    data = replace(data, weights=shares if persons else None)
    X = data.columns(np.arange(data.n_columns))
    for block in (data, by_columns(data)):
        sums, squares = column_norms(block)
        expected = weighed(np.abs(X), data.weights).sum(axis=0)
        np.testing.assert_allclose(sums, expected, rtol=1e-12)
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
    ball, bound = L1Ball(2.0), 0.5
    walk = BlockWalk(data, loss, ball, steps, bound)
    size = len(walk.limits)
    walk.follow(np.arange(0, size, 2))
    shape = (10, loss.n_outputs) if loss.n_outputs > 1 else (10,)
    point, weights = walk.start, np.zeros(shape)
    for t, vertex in enumerate([3, size + 5, size - 1, 3, 0]):
        point = walk.moved(point, vertex)
        weights = ball.step_toward(weights, vertex, steps[t])
        expected = ball.scores(gradient_sum(data, loss, weights, bound))
        every = walk.ask([(point, entry) for entry in range(size)], [point])
        np.testing.assert_allclose(every, expected, rtol=1e-12, atol=1e-12)
        assert walk.scores(point).tobytes() == np.array(every).tobytes()
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


WRAPPED = {
    "frank_wolfe": FrankWolfe(n_steps=20),
    "squared steps": FrankWolfe(n_steps=20, radius=1e3),
    "sparsifier": Sparsifier(FrankWolfe(n_steps=10), n_nonzero=3),
    "screened": Screened(FrankWolfe(n_steps=10)),
    "multinomial_lasso": MultinomialLasso(),
}


@pytest.mark.parametrize(
    ("name", "epsilon"), [*((name, 10.0) for name in WRAPPED), ("frank_wolfe", 1000.0)]
)
def test_no_fit_fails_after_the_charge_however_steep(name, epsilon):
    """Review finding: sparse 0/1 records and little noise ended in the logarithm of zero."""
    rng = np.random.default_rng(0)
    n, d = (3_000, 12) if epsilon == 10 else (400, 12)
    X = sparse.csr_array((rng.random((n, d)) < 0.1).astype(float))
    y = (X[:, [0]].toarray().ravel() + 0.3 * rng.normal(size=n) > 0.5).astype(int)
    model = SparseLogisticRegression(
        epsilon=epsilon,
        delta=1e-5,
        bounds=(0, 1),
        classes=(0, 1) if name != "multinomial_lasso" else (0, 1, 2),
        solver=WRAPPED[name],
        random_state=1,
        n_nonzero=3,
    )
    model.fit(RecordBlocks.from_arrays(X, y, rows_per_block=n // 2))
    assert np.isfinite(model.coef_).all()

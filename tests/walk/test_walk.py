"""The kernel of a walk: its exact joint law, its invariants, its guards.

Laws: paths of three steps against full enumeration by chi-square. Seeds are fixed; a test fails
below p = 1e-8, so that all of them together raise a false alarm less than once in 1e6. `make laws`
runs every combination.
"""

import contextlib
import os
import signal
import threading
import time
from itertools import cycle

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import expit, softmax

from sparsedp._kernels import COMPILED
from sparsedp._kernels.walk import reference
from sparsedp._kernels.walk.records import ONE
from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.mechanisms import KeyStream
from sparsedp.mechanisms.walk.lazy import unit_rate
from sparsedp.privacy import Sensitivity
from sparsedp.solvers.frank_wolfe.compact import compact_columns, whole_units
from tests.walk import walks
from tests.walk.walks import PATHS, cases, compare

FALSE_ALARM = 1e-8
CASES = cases()
needs_compiler = pytest.mark.skipif(not COMPILED, reason="the compiled kernel is not here")
if COMPILED:
    from sparsedp._kernels.walk import checked, kernel
else:
    kernel = reference

LAWS = [  # each case once, paths and steepness in turn
    (name, ("sparse", "dense")[i % 2], (0.6, 5.0, 0.05, 300.0, 1e5)[i % 5], i % 4 == 3, path)
    for i, (name, path) in enumerate(zip(CASES, cycle(PATHS), strict=False))
]
LAWS.append(("random", "sparse", 3.0, False, "resolved"))


@needs_compiler
@pytest.mark.parametrize(("name", "layout", "steepness", "laplace", "path"), LAWS)
def test_three_steps_have_their_exact_law(name, layout, steepness, laplace, path):
    case = CASES[name]
    records = case.records(layout)
    n_walks = 250 if path == "resolved" else 500
    p, totals = compare(
        kernel, case, records, steepness, n_walks, 3, laplace=laplace, **PATHS[path]
    )
    assert p > FALSE_ALARM, totals
    assert path != "resolved" or laplace or totals["resolved"] > 0


@needs_compiler
@pytest.mark.parametrize("steepness", [0.3, 3.0])
def test_noise_of_all_candidates_below_a_point_has_its_law(steepness):
    case = CASES["breaking"]
    p, totals = compare(
        kernel, case, case.records("sparse"), steepness, 1000, 6, laplace=True, **walks.REMAINDER
    )
    assert p > FALSE_ALARM, totals
    assert totals["remainders"] > 300


@pytest.mark.parametrize("laplace", [False, True])
def test_the_reference_has_the_same_law(laplace):
    case = CASES["random"]
    p, _ = compare(reference, case, case.records("sparse"), 2.0, 400, 4, laplace=laplace)
    assert p > FALSE_ALARM


@needs_compiler
def test_a_planted_bias_is_convicted():
    """Whatever is close counts as accepted, and everything is close: choices follow levels then."""
    case = CASES["breaking"]
    records = case.records("sparse")
    counts, rate, stream = {}, walks.rate_of(case, 0.6), KeyStream.from_seed(5)
    start = kernel.scores_at_zero(records, case.loss, 1, case.bound)
    for _ in range(1500):
        chosen, _ = kernel.walk(
            records,
            case.loss,
            start,
            1,
            case.bound,
            case.radius,
            case.steps,
            float(rate),
            lambda: stream.words(64),
            lambda *close: True,
            margin=1e9,  # pyrefly: ignore[unexpected-keyword]  of the compiled kernel
            mode="lazy",
            first_horizon=1e5,  # pyrefly: ignore[unexpected-keyword]
        )
        path = tuple(chosen.tolist())
        counts[path] = counts.get(path, 0) + 1
    assert walks.p_value(walks.law(case, records, rate), counts, 1500) < 1e-12


@needs_compiler
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("layout", ["sparse", "dense"])
def test_scores_are_those_of_the_reference_to_the_last_bit(name, layout):
    case = CASES[name]
    records = case.records(layout)
    n_vertices = 2 * records.n_columns * case.n_outputs
    steps = 1 / (np.arange(40) + 2.0)
    steps[[5, 20]] = 1.0, 0.999999  # margins begin anew, and their scale is folded in
    vertices = np.random.default_rng(4).integers(0, n_vertices, 40)
    setting = records, case.loss, case.n_outputs, case.bound, case.radius, steps, vertices
    np.testing.assert_array_equal(kernel.scores_along(*setting), reference.scores_along(*setting))


@needs_compiler
@pytest.mark.parametrize("layout", ["sparse", "dense"])
@pytest.mark.parametrize("intercept", [False, True])
def test_long_columns_of_the_largest_entries_do_not_overflow(layout, intercept):
    """Sums are taken in blocks of 512 records, in 32 bits: twice as long they would overflow."""
    X = np.ones((2051, 4))
    X[:, 1], X[::2, 2], X[:, 3] = -1.0, -1.0, 1 - 1 / ONE
    X[1::3, 2] = 0.0
    case = walks.Case(X, np.ones(2051, dtype=int), intercept=intercept, radius=1e3)
    setting = case.loss, 1, case.bound, case.radius, case.steps, np.array([1, 0, 2])
    records = case.records(layout)
    found = kernel.scores_along(records, *setting)
    np.testing.assert_array_equal(found, reference.scores_along(records, *setting))
    assert found[0, 0] == 2051 * ONE**2


@pytest.mark.parametrize("name", ["random", "squared", "multinomial", "centered", "small bound"])
def test_scores_are_those_of_plain_floating_point(name):
    """Up to rounding: half a unit of 2^-14 in each entry and derivative, and single precision."""
    case = CASES[name]
    records = case.records("sparse")
    vertices = np.array([0, 2 * records.n_columns * case.n_outputs - 1, 1])
    setting = records, case.loss, case.n_outputs, case.bound, case.radius, case.steps, vertices
    found = reference.scores_along(*setting) * (case.bound / ONE**2)
    X = 2 * case.X - 1 if case.intercept else case.X
    X = np.column_stack([X, np.ones(len(X))]) if case.intercept else X
    weights = np.zeros((X.shape[1], case.n_outputs))
    for scores, vertex, step in zip(found, vertices, case.steps, strict=True):
        margins = X @ weights
        if case.loss == "multinomial":
            r = softmax(margins, axis=1) - (np.arange(3) == case.y[:, None])
            r *= np.minimum(1, case.bound / np.abs(r).max(axis=1, keepdims=True))
        else:
            mean = expit(margins) if case.loss == "logistic" else margins
            r = np.clip(mean - case.y[:, None], -case.bound, case.bound)
        slack = len(X) * (2 * case.bound + case.radius) * 2.0**-14
        np.testing.assert_allclose(scores, -(X.T @ r).ravel(), atol=slack)
        weights *= 1 - step
        size = weights.size
        weights.ravel()[vertex % size] += step * case.radius * (1 if vertex < size else -1)


def middle(kind, seed=3):
    """Records of middle size, in all forms that a walk takes."""
    rng = np.random.default_rng(seed)
    n, d = {"text": (300, 900), "dense": (80, 60), "centered": (120, 80)}.get(kind, (250, 40))
    X = np.where(rng.random((n, d)) < 5 / (1 + np.arange(d)), rng.uniform(-1, 1, (n, d)), 0)
    X[:, d // 2] = 0
    X[:, 3], X[:, 5] = X[:, 2], -X[:, 2]
    y = (X @ rng.normal(size=d) > 0).astype(int)
    loss, n_outputs = ("multinomial", 3) if kind == "multinomial" else ("logistic", 1)
    y = y + (X[:, 0] > 0.3) if kind == "multinomial" else y
    if kind == "squared":
        loss, y = "squared", 0.9 * y
    return walks.Case(
        np.abs(X) if kind == "centered" else X,
        y,
        loss=loss,
        n_outputs=n_outputs,
        radius=30.0,
        steps=1 / (np.arange(60) + 2.0),
        intercept=kind in ("centered", "multinomial"),
        lower=0.0 if kind == "centered" else -1.0,
        weights=walks.shares(np.arange(n) % 3 + 1)[:n] if kind == "persons" else None,
    )


@needs_compiler
@pytest.mark.parametrize(
    "kind", ["text", "dense", "centered", "multinomial", "squared", "binary", "persons"]
)
def test_every_invariant_holds_at_every_step(kind):
    """The debug build recomputes all derivatives and scores and compares (walk/lazy.md)."""
    case = middle(kind)
    records = case.records("dense" if kind == "dense" else "sparse")
    start = checked.scores_at_zero(records, case.loss, case.n_outputs, case.bound)
    totals = {}
    for i, steepness in enumerate((0.02, 0.3, 5.0, 1e5)):
        for path in ("auto", "long levels", "capped"):
            stream = KeyStream.from_seed(i)
            rate = walks.rate_of(case, steepness)
            _, counters = walks.walk(
                checked, case, records, start, rate, stream, laplace=i == 1, **PATHS[path]
            )
            totals = {name: totals.get(name, 0) + value for name, value in counters.items()}
    unused = {name for name, value in totals.items() if value == 0}
    assert unused <= {"resolved", "remainders", "capped"}


@needs_compiler
@pytest.mark.parametrize("loss", ["logistic", "squared", "multinomial"])
def test_the_bound_between_passes_holds_where_it_is_close(loss):
    """All margins move by 0.1 from zero, nothing is looked at: a smaller constant would fail."""
    n = 80
    X = np.random.default_rng(1).choice([-1.0, 1.0], (n, 3))
    y = np.zeros(n) if loss == "squared" else np.arange(n) % 2
    case = walks.Case(
        X,
        y,
        loss=loss,
        n_outputs=2 if loss == "multinomial" else 1,
        bound=1.0,
        radius=0.2,
        steps=np.array([0.5, 0.5]),
    )
    _, counters = checked_walk(case, 1e-6, first_horizon=1e5)
    assert counters["passes"] == 0


def checked_walk(case, steepness, **how):
    """One walk of the debug build: an invariant that does not hold raises."""
    records = case.records("dense")
    start = checked.scores_at_zero(records, case.loss, case.n_outputs, case.bound)
    rate = walks.rate_of(case, steepness)
    return walks.walk(
        checked, case, records, start, rate, KeyStream.from_seed(0), mode="lazy", **how
    )


@needs_compiler
def test_rounding_of_derivatives_is_part_of_the_bound_between_passes():
    """Half a unit from the next whole number, margins move by a fifth of a unit: a whole one."""
    X = np.random.default_rng(1).choice([-1.0, 1.0], (80, 3))
    case = walks.Case(
        X,
        np.full(80, -0.5),
        loss="squared",
        bound=ONE / 18001,  # the first derivatives are 9000.5 units
        radius=2e-5,
        steps=np.array([0.5, 0.5]),
    )
    _, counters = checked_walk(case, 1e-6, first_horizon=1e5)
    assert counters["passes"] == 0


@needs_compiler
def test_levels_are_built_anew_when_their_horizon_is_passed():
    """A step moves derivatives by 1.9 horizons, mostly along one column: old levels are too low."""
    X = np.zeros((4080, 2))  # many: a new origin must not pay before the second step
    X[:2000, 0] = X[:, 1] = 1
    case = walks.Case(
        X,
        np.repeat([0.0, 1.0], [2000, 2080]),
        loss="squared",
        bound=1.0,
        radius=1.0,
        steps=np.array([0.58, 0.5]),
    )
    horizon = 0.3 * np.sqrt(4080) * ONE
    chosen, counters = checked_walk(
        case, 0.0015, first_horizon=horizon / 4
    )  # the first is fourfold
    assert chosen[0] == 1
    assert counters["builds"] >= 2


@needs_compiler
def test_a_look_between_passes_is_as_old_as_the_last_pass():
    """Out, a look, and back where the last pass was: derivatives have moved since the look."""
    X = np.zeros((200, 2))
    X[:20] = 1
    steps = np.array([0.5, 1 / 3, 0.5])  # half of the walks are back at zero after two of them
    case = walks.Case(X, np.arange(200) % 2, bound=1.0, radius=5.0, steps=steps)
    records = case.records("sparse")
    start = checked.scores_at_zero(records, case.loss, 1, case.bound)
    first_step = 0.25 * ONE * 0.5 * 5 * np.sqrt(20) + np.sqrt(200)
    how = {"first_horizon": 1.5 * first_step / 4, "margin": 1e9, "mode": "lazy"}
    passes = 0
    for seed in range(20):
        stream = KeyStream.from_seed(seed)
        rate = walks.rate_of(case, 0.01)
        _, counters = walks.walk(checked, case, records, start, rate, stream, **how)
        passes += counters["passes"]
    assert passes == 20  # one each, before the third step


@needs_compiler
def test_the_debug_build_asserts():
    """Scores at weights zero that are wrong: the first certificate does not hold."""
    case = CASES["random"]
    records = case.records("sparse")
    start = checked.scores_at_zero(records, case.loss, 1, case.bound) + 2**28
    with pytest.raises(AssertionError, match="invariant: exact"):
        walks.walk(checked, case, records, start, walks.rate_of(case, 1.0), KeyStream.from_seed(0))


@needs_compiler
def test_steep_noise_ends_by_the_remainder():
    """One candidate far ahead: Laplace noise rejects many points before the next; it ends."""
    X = np.zeros((3000, 2))
    X[:, 0] = 1
    case = walks.Case(X, np.ones(3000, dtype=int), steps=np.full(3000, 1e-9))
    records = case.records("sparse")
    start = kernel.scores_at_zero(records, case.loss, 1, case.bound)
    chosen, counters = walks.walk(
        kernel,
        case,
        records,
        start,
        walks.rate_of(case, 1.0),
        KeyStream.from_seed(0),
        laplace=True,
        mode="full",
    )
    assert (chosen == 0).all()
    assert counters["remainders"] > 0
    assert counters["attempts"] < 3000 * 60


@needs_compiler
@pytest.mark.parametrize("word", [0, 2**64 - 1])
def test_a_broken_source_of_randomness_ends_the_walk(word):
    """All bits equal for ever: an answer or an error, not an endless loop."""
    case = CASES["random"]
    records = case.records("sparse")
    start = kernel.scores_at_zero(records, case.loss, 1, case.bound)
    words = np.full(64, word, dtype=np.uint64)
    with contextlib.suppress(RuntimeError):
        kernel.walk(
            records,
            case.loss,
            start,
            1,
            case.bound,
            case.radius,
            case.steps,
            1e-9,
            lambda: words,
            lambda *close: False,
        )


@needs_compiler
def test_errors_of_the_stream_come_through():
    case = CASES["random"]
    records = case.records("sparse")
    start = kernel.scores_at_zero(records, case.loss, 1, case.bound)

    def broken():
        raise RuntimeError("no words")

    with pytest.raises(RuntimeError, match="no words"):
        kernel.walk(
            records, case.loss, start, 1, 0.5, 3.0, case.steps, 1e-9, broken, lambda *close: False
        )


@pytest.mark.parametrize(
    ("what", "value"),
    [
        ("bound", 0.0),
        ("bound", np.nan),
        ("bound", np.inf),
        ("radius", np.inf),
        ("radius", np.nan),
        ("radius", -1.0),
        ("radius", 1e200),
        ("rate", np.nan),
        ("rate", np.inf),
        ("rate", 0.0),
        ("steps", np.array([0.5, np.nan])),
        ("steps", np.array([0.0])),
        ("steps", np.array([1.5])),
        ("n_outputs", 2),
        ("n_outputs", 5000),
    ],
)
def test_settings_beyond_the_proof_are_refused(what, value):
    case = CASES["random"]
    records = case.records("sparse")
    setting = {"n_outputs": 1, "bound": 0.5, "radius": 3.0, "steps": case.steps, "rate": 1e-9}
    start = reference.scores_at_zero(records, case.loss, 1, case.bound)
    setting[what] = value
    with pytest.raises(ValueError):
        kernel.walk(
            records,
            case.loss,
            start,
            *setting.values(),
            lambda: np.zeros(8, dtype=np.uint64),  # pyrefly: ignore[bad-argument-count]
            None,
        )


def test_entries_are_clipped_after_centering_and_after_duplicates_are_summed():
    """Fifty duplicates, and zero at the corner of the box: no entry leaves [-1, 1]."""
    X = csr_array((np.ones(50), (np.zeros(50, dtype=int), np.zeros(50, dtype=int))), shape=(2, 2))
    for intercept, bounds in ((True, Bounds(0, 1)), (False, Bounds(-1, 1))):
        data = Dataset.clip(X, [0, 1], bounds, intercept=intercept)
        records = compact_columns(data).columns
        column = int(np.flatnonzero(records.order == 0)[0])
        assert records.indptr[column + 1] - records.indptr[column] == 2
        assert records.x[records.indptr[column]] == ONE
        assert np.abs(records.base).max() <= ONE
    # Not only small: what is cast without being clipped may be anything, zero as well.
    hostile = np.array([np.nan, np.inf, -np.inf, 1 + 1e-9, 1.5, -1.25, 1e308])
    assert whole_units(hostile).tolist() == [0, ONE, -ONE, ONE, ONE, -ONE, ONE]


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("bound", [0.5, 0.3])
def test_one_record_moves_scores_by_what_the_rate_pays_for(neighbors, bound):
    """Corner records: the range over both signs is 2^29 units if one is added, 2^30 if replaced."""
    X = np.array([[1.0, -1.0, 0.5], [1.0, 1.0, -1.0], [-1.0, 1.0, 1.0]])
    y = np.array([1, 0, 1])
    case = walks.Case(X, y, bound=bound)
    more = {"add_remove": np.ones((1, 3)), "replace_one": -X[2:]}[neighbors]
    kept = X if neighbors == "add_remove" else X[:2]
    other = walks.Case(np.vstack([kept, more]), np.append(y[: len(kept)], [1]), bound=bound)
    score_range = Sensitivity.of_scores(bound).under(neighbors)
    moved = []
    for vertices in np.random.default_rng(1).integers(0, 6, (20, 3)):
        setting = "logistic", 1, bound, 3.0, case.steps, vertices
        one = reference.scores_along(case.records("dense"), *setting)
        two = reference.scores_along(other.records("dense"), *setting)
        change = np.concatenate([one - two, two - one], axis=1)
        moved.append((change.max(axis=1) - change.min(axis=1)).max())
    units = {"add_remove": 2**29, "replace_one": 2**30}[neighbors]
    assert 0.9 * units <= max(moved) <= units
    assert unit_rate(1.0, bound, score_range) * units == 1


def test_a_rate_that_forgets_the_signs_is_refused():
    with pytest.raises(ValueError, match="both signs"):
        unit_rate(1.0, 0.5, 0.5)


def test_the_exponential_is_as_good_as_the_proof_says():
    x = np.linspace(-80, 80, 400_001).astype(np.float32)
    error = np.abs(reference.exp_single(x) / np.exp(x.astype(float)) - 1)
    assert error.max() < 2.0**-20


@needs_compiler
@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
def test_an_interrupt_ends_a_walk_within_a_second():
    """Of processor time. Background jobs of a shell start with interrupts switched off."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        _interrupt_a_walk()
    finally:
        signal.signal(signal.SIGINT, before)


def _interrupt_a_walk():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (2000, 500))
    case = walks.Case(X, rng.integers(0, 2, 2000), steps=np.full(200_000, 1e-3))
    records = case.records("dense")
    start = kernel.scores_at_zero(records, case.loss, 1, case.bound)
    sent = []

    def interrupt():
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.3, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        walks.walk(
            kernel,
            case,
            records,
            start,
            walks.rate_of(case, 1.0),
            KeyStream.from_seed(0),
            mode="full",
        )
    assert time.process_time() - sent[0] < 1.0

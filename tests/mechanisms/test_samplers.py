"""The samplers have the distributions they claim, on every path.

Statistical tests draw from seeded streams, so they pass or fail for good; over the choice of the
seed each would fail with probability below ALARM for a correct sampler. Those against OpenDP,
which cannot be seeded, fail with that probability each time.
"""

import copy
import math
import os
import pickle
import sys
import threading
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sparsedp._kernels import COMPILED
from sparsedp._kernels.sampling import sample_reference
from sparsedp.mechanisms.entropy import KeyStream
from sparsedp.mechanisms.samplers import count, linear, select
from sparsedp.mechanisms.samplers import gaussian as noise
from sparsedp.mechanisms.samplers.exact import bernoulli_exp, exp_bounds
from sparsedp.mechanisms.samplers.linear import gaussian_linear_term

ALARM = 1e-7
SEED = 20240607


def assert_distribution(draws, probabilities):
    """Chi-square of draws 0, 1, ... against probabilities; rare outcomes are pooled."""
    probabilities = np.asarray(probabilities, dtype=float)
    observed = np.bincount(np.asarray(draws), minlength=probabilities.size)
    assert observed.size == probabilities.size
    assert not observed[probabilities == 0].any()
    expected = probabilities / probabilities.sum() * observed.sum()
    rare = expected < 10
    observed = np.append(observed[~rare], observed[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    if expected[-1] == 0:
        observed, expected = observed[:-1], expected[:-1]
    if observed.size > 1:
        assert stats.chisquare(observed, expected).pvalue > ALARM


def assert_same_distribution(draws, others):
    """Chi-square of two samples of integers."""
    outcomes = np.union1d(draws, others)
    table = np.array([[np.sum(np.equal(x, k)) for k in outcomes] for x in (draws, others)])
    common = table.sum(axis=0) >= 20
    table = np.column_stack((table[:, common], table[:, ~common].sum(axis=1)))
    table = table[:, table.sum(axis=0) > 0]
    assert stats.chi2_contingency(table).pvalue > ALARM


@pytest.fixture(params=["in use", "reference"])
def backend(request, monkeypatch):
    """Run a test on the kernels in use and on the reference."""
    if request.param == "reference":
        monkeypatch.setattr(select, "kernel", sample_reference)
        monkeypatch.setattr(noise, "kernel", sample_reference)
    return request.param


# ------------------------------------------------------------------------------------------ bits


def test_seeded_stream_is_the_same_everywhere():
    words = KeyStream.from_seed(1).words(2)
    assert [hex(word) for word in words.tolist()] == ["0xf5bd5320bd471257", "0xb4c8ba3f232981b0"]
    assert KeyStream.from_seed(1).bits(128) == int(words[0]) + (int(words[1]) << 64)
    assert KeyStream.from_seed(1).seeded
    assert not KeyStream.secure().seeded


def test_streams_differ():
    streams = [KeyStream.from_seed(seed) for seed in (0, 1, -1, 2**70, b"", b"1", b"\0")]
    streams += [KeyStream.secure(), KeyStream.secure()]
    assert len({stream.bits(64) for stream in streams}) == len(streams)


def test_words_do_not_depend_on_the_requests():
    whole = KeyStream.from_seed(SEED).words(30_000)
    stream = KeyStream.from_seed(SEED)
    sizes = [0, 1, 4095, 1, 4096, 3, 9000, 0, 5000, 7804]
    assert sum(sizes) == whole.size
    np.testing.assert_array_equal(np.concatenate([stream.words(n) for n in sizes]), whole)


def test_streams_cannot_be_copied():
    stream = KeyStream.secure()
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="repeat its noise"):
            duplicate(stream)


@pytest.mark.skipif(sys.platform == "win32", reason="no fork on this platform")
def test_threads_of_a_forked_child_never_share_words():
    # Review finding: the child left its parent's stream outside of any lock, so that threads which
    # did so at once stepped on each other, and a late one might have started the words again.
    n_threads, n_calls = 8, 20
    for _ in range(25):
        stream = KeyStream.secure()
        before = stream.words(5)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writing, _child_of_threads(stream, n_threads, n_calls).encode())
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            said = pipe.read()
        os.waitpid(child, 0)
        words = said.split()
        assert len(words) == n_threads * n_calls, said
        assert len(set(words) | {str(word) for word in before}) == len(words) + 5


def _child_of_threads(stream, n_threads, n_calls):
    sys.setswitchinterval(1e-6)
    start, drawn, failures = threading.Barrier(n_threads), [], []

    def draw():
        try:
            start.wait()
            drawn.extend(int(stream.words(1)[0]) for _ in range(n_calls))
        except BaseException as error:
            failures.append(repr(error))

    threads = [threading.Thread(target=draw) for _ in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures[0] if failures else " ".join(map(str, drawn))


@pytest.mark.skipif(sys.platform == "win32", reason="no fork on this platform")
def test_fork_never_repeats_words():
    def in_child(stream):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                answer = str(stream.bits(256))
            except RuntimeError:
                answer = "refused"
            os.write(writer, answer.encode())
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            answer = pipe.read()
        os.waitpid(child, 0)
        return answer

    secure, seeded = KeyStream.secure(), KeyStream.from_seed(SEED)
    secure.bits(1)
    answers = {in_child(secure), in_child(secure), str(secure.bits(256))}
    assert len(answers) == 3
    assert in_child(seeded) == "refused"
    seeded.bits(1)


def test_threads_never_share_words():
    stream = KeyStream.secure()
    taken = []
    threads = [
        threading.Thread(target=lambda: taken.extend(stream.bits(64) for _ in range(5000)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(taken)) == 20_000


def test_integers_below():
    stream = KeyStream.from_seed(SEED)
    assert_distribution([stream.integer_below(7) for _ in range(20_000)], np.ones(7))
    n = 3**100
    draws = [stream.integer_below(n) for _ in range(4000)]
    assert_distribution([draw * 20 // n for draw in draws], np.ones(20))
    assert stream.integer_below(1) == stream.bits(0) == 0
    assert {stream.bits(2) for _ in range(200)} == {0, 1, 2, 3}
    with pytest.raises(ValueError, match="positive"):
        stream.integer_below(0)


# ---------------------------------------------------------------------------------------- trials


@given(st.integers(0, 10**21), st.integers(1, 10**20), st.integers(1, 300))
@settings(max_examples=200, deadline=None)
def test_exponential_is_enclosed(numerator, denominator, n_bits):
    numerator = min(numerator, 200 * denominator)
    lower, upper = exp_bounds(numerator, denominator, n_bits)
    assert 0 <= lower <= upper <= lower + 3
    with localcontext() as context:
        context.prec = 250  # correctly rounded by the decimal module
        exact = Fraction((-Decimal(numerator) / Decimal(denominator)).exp()) * 2**n_bits
    slack = Fraction(1, 10**90)
    assert lower <= exact * (1 + slack)
    assert upper >= exact * (1 - slack)


@pytest.mark.parametrize("step", [1, 3, 64])
@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 3), Fraction(5, 2), Fraction(9)])
def test_trials(x, step):
    stream = KeyStream.from_seed(SEED)
    shift = math.floor(x / Fraction(math.log(2)))
    n = 4000
    hits = sum(
        bernoulli_exp(x.numerator, x.denominator, stream, shift=shift, step=step) for _ in range(n)
    )
    assert stats.binomtest(hits, n, math.exp(-x) * 2**shift).pvalue > ALARM


# ------------------------------------------------------------------------------------- selection


SCORES = np.array([0.0, 1.5, -2.0, 1.5, 0.3, 4.0, -9.0, 3.9])


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("epsilon0", [0.01, 0.7])
def test_exponential_mechanism(epsilon0, signed, backend):
    stream = KeyStream.from_seed(SEED)
    draws = [
        select.exponential_mechanism(SCORES, epsilon0, 0.5, stream, signed=signed)
        for _ in range(3000)
    ]
    candidates = np.concatenate((SCORES, -SCORES)) if signed else SCORES
    assert_distribution(draws, np.exp(epsilon0 * (candidates - 9) / 0.5))


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize(("depth", "step"), [(0, 64), (2, 64), (61, 2), (3, 1)])
def test_rare_paths_of_the_exponential_mechanism(depth, step, signed):
    stream = KeyStream.from_seed(SEED)
    grid, rate = select.grid_and_rate(0.4, 0.5)
    rounded = select.kernel.round_to_grid(SCORES, grid)
    nothing = np.zeros(0, dtype=bool)
    draws = [
        select._Candidates(rounded, nothing, signed, grid, rate, depth=depth, step=step).choose(
            stream
        )
        for _ in range(2000)
    ]
    candidates = np.concatenate((SCORES, -SCORES)) if signed else SCORES
    assert_distribution(draws, np.exp(0.8 * (candidates - 9)))


@pytest.mark.parametrize("signed", [False, True])
def test_excluded_candidates(signed, backend):
    mask = np.zeros(8, dtype=bool)
    mask[[0, 5, 6]] = True  # the best ones among them
    probabilities = np.exp(0.5 * (np.concatenate((SCORES, -SCORES)) if signed else SCORES))
    probabilities[np.tile(mask, 2) if signed else mask] = 0
    for excluded in (mask, np.array([5, 6, 0, 5])):
        stream = KeyStream.from_seed(SEED)
        draws = [
            select.exponential_mechanism(SCORES, 1, 2, stream, signed=signed, excluded=excluded)
            for _ in range(1500)
        ]
        assert_distribution(draws, probabilities)
    for nothing in ([], np.array([], dtype=int), np.zeros(8, dtype=bool)):
        select.exponential_mechanism(SCORES, 1, 2, stream, signed=signed, excluded=nothing)


def test_many_candidates(backend):
    # Sums over groups of 50,000 candidates whose levels go from 0 to the deepest.
    scores = np.repeat(np.arange(10.0), 5000)
    scores[7], scores[8] = 17.0, 16.0
    stream = KeyStream.from_seed(SEED)
    draws = [select.exponential_mechanism(scores, 1.0, 1.0, stream) for _ in range(500)]
    group = [10 if i == 7 else 11 if i == 8 else int(scores[i]) for i in draws]
    sizes = np.bincount(np.delete(scores, [7, 8]).astype(int), minlength=10)
    assert_distribution(group, [*(sizes * np.exp(np.arange(10.0) - 17)), 1, math.exp(-1)])


def test_extreme_scores(backend):
    stream = KeyStream.from_seed(SEED)
    draws = [
        select.exponential_mechanism(np.array([1e300, -1e300, 0.0, 1e300]), 1.0, 1.0, stream)
        for _ in range(1000)
    ]
    assert_distribution(draws, [1, 0, 0, 1])
    huge = np.array([1.7e308, -1.7e308])
    draws = [
        select.exponential_mechanism(huge, 1.0, 1e-200, stream, signed=True) for _ in range(1000)
    ]
    assert_distribution(draws, [1, 0, 0, 1])
    # Far from zero, where one grid unit is below the spacing of floats.
    draws = [
        select.exponential_mechanism(np.array([1e15, 1e15 + 1]), 1.0, 1.0, stream)
        for _ in range(4000)
    ]
    assert_distribution(draws, [1, math.e])
    tiny = np.array([5e-324, 0.0, -5e-324])
    draws = [select.exponential_mechanism(tiny, 1.0, 1e200, stream) for _ in range(2000)]
    assert_distribution(draws, [1, 1, 1])
    assert select.exponential_mechanism(np.array([-3.0]), 1e-9, 1.0, stream) == 0
    assert select.exponential_mechanism(np.arange(100.0), 1e12, 1.0, stream) == 99


def test_exponential_mechanism_agrees_with_opendp():
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    gumbel = dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=2.0)
    stream = KeyStream.from_seed(SEED)
    draws = [select.exponential_mechanism(SCORES, 1.0, 2.0, stream) for _ in range(4000)]
    assert_same_distribution(draws, [gumbel(SCORES.tolist()) for _ in range(1000)])


@pytest.mark.parametrize("epsilon0", [0.01, 1.0, 40.0])
def test_top_k_is_one_selection_after_the_other(epsilon0, backend):
    scores = np.random.default_rng(SEED).normal(size=300)
    chosen = select.exponential_top_k(
        scores, epsilon0, 1.0, 100, KeyStream.from_seed(SEED), excluded=np.array([3, 5])
    )
    stream, gone = KeyStream.from_seed(SEED), [3, 5]
    for _ in range(100):
        gone.append(
            select.exponential_mechanism(scores, epsilon0, 1.0, stream, excluded=np.array(gone))
        )
    assert chosen.tolist() == gone[2:]


def test_top_k():
    scores = np.array([0.0, 1.0, 2.0])
    stream = KeyStream.from_seed(SEED)
    pairs = [select.exponential_top_k(scores, 1.0, 1.0, 2, stream) for _ in range(3000)]
    weights = np.exp(scores)
    probabilities = np.zeros(9)
    for i in range(3):
        for j in set(range(3)) - {i}:
            probabilities[3 * i + j] = weights[i] / weights.sum()
            probabilities[3 * i + j] *= weights[j] / (weights.sum() - weights[i])
    assert_distribution([3 * i + j for i, j in pairs], probabilities)
    excluded = np.array([1])
    chosen = select.exponential_top_k(scores, 1.0, 1.0, 2, stream, excluded=excluded)
    assert chosen.dtype == np.int64
    assert sorted(chosen) == [0, 2]
    assert select.exponential_top_k(scores, 1.0, 1.0, 0, stream).shape == (0,)
    with pytest.raises(ValueError, match="cannot choose 3 of 2"):
        select.exponential_top_k(scores, 1.0, 1.0, 3, stream, excluded=excluded)


finite = st.floats(allow_nan=False, allow_infinity=False)
scales = st.floats(1e-100, 1e100)


@given(st.lists(finite, min_size=1, max_size=20), scales)
@settings(deadline=None)
def test_rounding_to_the_grid(values, score_range):
    values = np.array(values)
    grid, _ = select.grid_and_rate(1.0, score_range)
    assert 2**31 <= score_range / grid < 2**32
    for kernel in (select.kernel, sample_reference):
        rounded = kernel.round_to_grid(values, grid)
        for value, on_grid in zip(values.tolist(), rounded.tolist(), strict=True):
            assert (Fraction(on_grid) / Fraction(grid)).denominator == 1
            assert abs(Fraction(on_grid) - Fraction(value)) <= Fraction(grid) / 2


def log_weights(scores, epsilon0, score_range):
    """The logarithms of the weights that selections sample from, as fractions."""
    grid, rate = select.grid_and_rate(epsilon0, score_range)
    rounded = select.kernel.round_to_grid(scores, grid).tolist()
    largest = max(Fraction(score) for score in rounded)
    gaps = [(largest - Fraction(score)) / Fraction(grid) for score in rounded]
    return [-rate * min(gap, select._LARGEST_GAP) for gap in gaps]


@given(
    st.lists(st.tuples(finite, st.floats(0, 1)), min_size=2, max_size=12),
    st.floats(-1e3, 1e3),
    st.floats(1e-3, 10),
    scales,
)
@settings(deadline=None)
def test_bounded_range_is_exact(pairs, offset, epsilon0, score_range):
    scores = np.array([score for score, _ in pairs])
    # A change within the range plus a constant, as exact as floats allow: the true range is taken.
    changes = [score_range * (offset + share) for _, share in pairs]
    with np.errstate(over="ignore"):
        moved = np.clip(scores + changes, -1.7e308, 1.7e308)
    differences = [
        Fraction(a) - Fraction(b) for a, b in zip(moved.tolist(), scores.tolist(), strict=True)
    ]
    true_range = max(differences) - min(differences)
    declared = max(score_range, np.nextafter(float(true_range), np.inf))
    if declared > 1e200:
        return
    after = log_weights(moved, epsilon0, declared)
    before = log_weights(scores, epsilon0, declared)
    losses = [a - b for a, b in zip(after, before, strict=True)]
    assert max(losses) - min(losses) <= Fraction(epsilon0)


def test_bounded_range_is_attained():
    # Four roundings that all go the wrong way: the range grows by almost two grid units.
    grid, _ = select.grid_and_rate(1.0, 1.0)
    scores = np.array([31, 33]) * grid / 64
    moved = np.array([1.0 + 33 * grid / 64, 31 * grid / 64])
    declared = 1.0 + 4 * grid / 64
    after, before = log_weights(moved, 1.0, declared), log_weights(scores, 1.0, declared)
    change = (after[0] - before[0]) - (after[1] - before[1])
    assert 1 - Fraction(1, 2**34) < change <= 1


def test_gaps_are_exact(monkeypatch, backend):
    # The arguments of the acceptance tests, where floats hardly resolve one grid unit.
    asked = set()

    def spy(numerator, denominator, stream, *, shift, step):
        asked.add(Fraction(numerator, denominator))
        return bernoulli_exp(numerator, denominator, stream, shift=shift, step=step)

    monkeypatch.setattr(select, "bernoulli_exp", spy)
    grid, rate = select.grid_and_rate(1e-12, 1.0)
    stream = KeyStream.from_seed(SEED)
    for offset in (0.0, 2.0**60):
        units = np.array([2.0**53, 2.0**53 - 1, 1.0, 0.0, -1.0, -(2.0**53)]) + offset
        asked.clear()
        for _ in range(200):
            select.exponential_mechanism(units * grid, 1e-12, 1.0, stream)
        exact = {min(Fraction(units.max()) - Fraction(unit), 2**53) for unit in units}
        assert asked == {gap * rate for gap in exact}


def levels_and_weights(scores, epsilon0, signed=False):
    """What `exponential_mechanism` proposes from and what it must not exceed."""
    calls = []

    def spy(*arguments):
        calls.append(dyadic_levels(*arguments))
        return calls[-1]

    dyadic_levels = select.kernel.dyadic_levels
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(select.kernel, "dyadic_levels", spy)
        select.exponential_mechanism(scores, epsilon0, 1.0, KeyStream.secure(), signed=signed)
    levels, counts = calls[0]
    candidates = np.concatenate((scores, -scores)) if signed else scores
    np.testing.assert_array_equal(counts, np.bincount(levels, minlength=select._DEPTH + 1))
    return levels.tolist(), log_weights(candidates, epsilon0, 1.0)


LOG_2 = Fraction(693147180559945309417232121459, 10**30)  # from above


@given(
    st.lists(st.one_of(finite, st.floats(-40, 40)), min_size=1, max_size=20),
    st.floats(1e-6, 1e3),
    st.booleans(),
)
@settings(deadline=None)
def test_levels_are_an_envelope(scores, epsilon0, signed):
    levels, logarithms = levels_and_weights(np.array(scores), epsilon0, signed)
    for level, logarithm in zip(levels, logarithms, strict=True):
        assert level * LOG_2 <= -logarithm
        if level < select._DEPTH:
            # At most one too small, so that about half of the proposals are accepted.
            assert (level + 2) * Fraction(69, 100) > -logarithm


def test_levels_next_to_a_power_of_two(backend):
    # The float below log 2: the k-th weight is barely above 2**-k and may not get level k.
    grid, _ = select.grid_and_rate(1.0, 1.0)
    scores = -np.arange(60.0) * (1.0 + 2 * grid)
    levels, logarithms = levels_and_weights(scores, math.log(2))
    assert logarithms[1] == -Fraction(math.log(2))
    assert levels == [0, *range(59)]
    levels, _ = levels_and_weights(scores, math.nextafter(math.log(2), 1) * (1 + 2.0**-44))
    assert levels == list(range(60))


def test_selection_refuses_nonsense():
    stream = KeyStream.from_seed(SEED)
    for scores in (np.zeros((2, 2)), np.zeros(0), np.array([np.nan]), np.array([1.0, np.inf])):
        with pytest.raises(ValueError, match="scores"):
            select.exponential_mechanism(scores, 1.0, 1.0, stream)
    for epsilon0, score_range in ((0, 1), (-1, 1), (np.nan, 1), (np.inf, 1), (1, 0), (1, np.nan)):
        with pytest.raises(ValueError, match="ordinary size"):
            select.exponential_mechanism(SCORES, epsilon0, score_range, stream)
    with pytest.raises(ValueError, match="every candidate"):
        select.exponential_mechanism(SCORES, 1, 1, stream, excluded=np.ones(8, dtype=bool))
    with pytest.raises(ValueError, match="mask"):
        select.exponential_mechanism(SCORES, 1, 1, stream, excluded=np.ones(7, dtype=bool))


@pytest.mark.parametrize("signed", [False, True])
def test_laplace_noisy_max(signed):
    # Two candidates at distance g scales: the better one wins with 1 - exp(-g) (2 + g) / 4.
    scores = np.array([0.75]) if signed else np.array([1.0, -0.5])
    stream = KeyStream.from_seed(SEED)
    draws = [select.laplace_noisy_max(scores, 0.5, stream, signed=signed) for _ in range(10_000)]
    loss = math.exp(-3) * (2 + 3) / 4
    assert_distribution(draws, [1 - loss, loss])
    with pytest.raises(ValueError, match="scale"):
        select.laplace_noisy_max(scores, 0.0, stream)


# -------------------------------------------------------------------------------------- Gaussian


def assert_rounded_gaussian(draws, sigma):
    bound = 9 * sigma
    edges = (np.arange(-bound, bound + 2) - 0.5) / sigma
    # By symmetry from the left, where the distribution function keeps its digits.
    left = stats.norm.cdf(np.minimum(edges, -edges))
    left = np.where(edges > 0, 1 - left, left)
    assert_distribution(np.asarray(draws) + bound, np.diff(left))


@pytest.mark.parametrize("sigma", [1, 3, 4])
def test_rounded_gaussian_small(sigma, backend):
    stream = KeyStream.from_seed(SEED)
    assert_rounded_gaussian(noise.rounded_gaussian(200_000, sigma, stream), sigma)


@pytest.mark.parametrize(
    ("n_blocks", "margin", "n"),
    [(128, 0.2, 20_000), (16, 2.0**-44, 10_000), (40, 0.1, 20_000), (24, 1.0, 6_000)],
)
def test_rare_paths_of_the_gaussian(n_blocks, margin, n):
    stream = KeyStream.from_seed(SEED)
    table = noise._table(n_blocks)
    assert int(table.cumulative[-1]) <= 2**62
    assert_rounded_gaussian(noise._draw(n, 4, stream, table, margin), 4)


@pytest.mark.parametrize("sigma", [1000, 2**31 - 1, (2**31 - 1) << 14, 2**45])
def test_rounded_gaussian_large(sigma, backend):
    draws = noise.rounded_gaussian(100_000, sigma, KeyStream.from_seed(SEED))
    edges = np.rint(np.linspace(-4, 4, 81) * sigma)
    expected = np.diff(stats.norm.cdf((edges - 0.5) / sigma))
    inside = draws[(draws >= edges[0]) & (draws < edges[-1])]
    assert_distribution(np.searchsorted(edges, inside, side="right") - 1, expected)
    # The low digits of a wide Gaussian are uniform and independent of the sign.
    assert_distribution(draws % 16, np.ones(16))
    assert stats.binomtest(int((draws > 0).sum()), int((draws != 0).sum())).pvalue > ALARM


def test_rounded_gaussian_agrees_with_opendp():
    # At this width the discrete and the rounded Gaussian cannot be told apart.
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    theirs = np.array(dp.m.make_gaussian(*space, scale=2.0**30)([0] * 20_000))
    ours = noise.rounded_gaussian(20_000, 2**30, KeyStream.from_seed(SEED))
    assert stats.ks_2samp(theirs, ours).pvalue > ALARM


def attempt(block, height, second, margin):
    """Try one point where only `block` has room, as high as it gets: 2**60 at its left edge."""
    cumulative = np.array([0] * (block + 1) + [2**61] * (129 - block), dtype=np.uint64)
    words = np.array([height << 2, second], dtype=np.uint64)
    _, status = noise.kernel.gaussian_attempts(
        words, cumulative, np.full(128, 2.0**60), 2**30, 0, margin
    )
    return status[0]


def test_decisions_next_to_the_curve(backend):
    # With a margin of 2**-46 the density itself must be undecided: that is the error bound claimed
    # for double precision. With the margin in use, twice as far away must be decided.
    assert noise._MARGIN >= 2 * 2.0**-46
    generator = np.random.default_rng(SEED)
    seconds = [0, 2**64 - 2**40, *generator.integers(2**64, size=6, dtype=np.uint64).tolist()]
    for block in range(128):
        for second in seconds:
            decline = ((block << 64) + second) ** 2 - (block << 64) ** 2
            edge = exp_bounds(decline, 1 << 137, 60)[0]
            assert attempt(block, edge, second, 2.0**-46) == 2
            assert attempt(block, edge - (edge >> 43), second, noise._MARGIN) == 1
            assert attempt(block, edge + (edge >> 43), second, noise._MARGIN) == 0


def test_unknown_digits_of_the_height_count(backend):
    # In the last blocks the density is a few thousand units, and the height has whole units only.
    table = noise._table(128)
    for block in range(120, 128):
        edge = table.scale * exp_bounds((2 * block + 1) ** 2, 2048, 200)[0] >> 200
        statuses = []
        for height in (edge - 2, edge, edge + 1):
            point = int(table.cumulative[block]) + height
            words = np.array([point << 2, 2**63], dtype=np.uint64)
            _, status = noise.kernel.gaussian_attempts(
                words, table.cumulative, table.heights, 2**30, 0, noise._MARGIN
            )
            statuses.append(status[0])
        assert statuses == [1, 2, 0]


def test_positions_next_to_a_half(backend):
    # At sigma = 2**45 and in block 0, 2 * t * sigma = second / 2**22; at its odd values the
    # rounding turns.
    table = noise._table(128)
    boundary = 12345 << 22
    for second, status in ((boundary - 1, 2), (boundary, 1)):
        words = np.array([0, second], dtype=np.uint64)
        values, got = noise.kernel.gaussian_attempts(
            words, table.cumulative, table.heights, 2**30, 15, noise._MARGIN
        )
        assert got[0] == status
    stream = KeyStream.from_seed(SEED)
    assert noise._decide(0, boundary, 2**45, table, stream) == values[0] == 6173
    assert noise._decide(0, boundary - 1, 2**45, table, stream) == 6172


def test_undecided_positions_get_more_digits():
    # The boundary lies inside the cell of 64 bits, so the next digits decide.
    sigma, table, stream = 2**30 + 2**20 + 1, noise._table(128), KeyStream.from_seed(SEED)
    second, part = divmod(12345 << 67, sigma)
    n = 2000
    draws = [noise._decide(0, second, sigma, table, stream) for _ in range(n)]
    assert set(draws) == {6172, 6173}
    assert stats.binomtest(draws.count(6172), n, part / sigma).pvalue > ALARM


class Script:
    """A stream that gives prepared answers."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def bits(self, n_bits):
        answer = self.answers.pop(0)
        assert answer < 2**n_bits
        return answer


def test_undecided_heights_get_more_digits():
    table = noise._table(128)
    block, second, ones = 20, 2**63 + 1, 2**64 - 1
    left = (block << 64) + second
    high, low = (
        table.scale * exp_bounds(edge * edge, 1 << 137, 400)[1] >> (400 - 64)
        for edge in (left, left + 1)
    )
    height, digits = divmod((high + low) // 2, 2**64)
    first = (int(table.cumulative[block]) + height) << 2
    # Further digits of the position, then of the height.
    accepted = noise._decide(first, second, 1000, table, Script(digits, 0, ones))
    assert accepted == round((block + 0.5) / 16 * 1000)
    assert noise._decide(first + 1, second, 1000, table, Script(digits, 0, ones)) == -accepted
    assert noise._decide(first, second, 1000, table, Script(digits, ones, 0)) is None


@given(st.integers(1, 10**7), st.floats(1e-80, 1e80), st.floats(1e-4, 1e3))
@settings(deadline=None)
def test_gaussian_pays_for_its_grid(n_values, sensitivity, mu):
    grid, sigma = noise._grid_and_sigma(n_values, sensitivity, mu)
    units = Fraction(sensitivity) / Fraction(grid)
    # (units + sqrt(n)) / sigma <= mu, squared to stay among fractions
    assert Fraction(mu) * sigma >= units
    assert (Fraction(mu) * sigma - units) ** 2 >= n_values
    inflation = float(sigma * Fraction(grid) * Fraction(mu) / Fraction(sensitivity)) - 1
    assert inflation <= (2e-9 if math.sqrt(n_values) / mu <= 8000 else 1e-5)


@given(st.lists(st.tuples(finite, finite), min_size=1, max_size=10), st.floats(1e-4, 1e3))
@settings(deadline=None)
def test_rounded_vectors_move_as_stated(pairs, mu):
    grid, _ = noise._grid_and_sigma(len(pairs), 1.0, mu)
    first, second = (
        noise.kernel.round_to_grid(np.array(x), grid).tolist() for x in zip(*pairs, strict=True)
    )
    for a, b, (x, y) in zip(first, second, pairs, strict=True):
        moved = (Fraction(a) - Fraction(b)) - (Fraction(x) - Fraction(y))
        assert abs(moved) <= Fraction(grid)


def test_gaussian_release(backend):
    stream = KeyStream.from_seed(SEED)
    values = np.random.default_rng(SEED).normal(size=(100, 200)) * 1e6
    release = noise.gaussian_release(values, 3.0, 0.5, stream)
    assert release.shape == values.shape
    assert release.dtype == np.float64
    grid, sigma = noise._grid_and_sigma(values.size, 3.0, 0.5)
    assert sigma * grid == pytest.approx(6.0, rel=1e-8)
    assert np.all(release / grid == np.rint(release / grid))
    assert stats.kstest((release - values).ravel() / 6.0, stats.norm.cdf).pvalue > ALARM


def test_gaussian_release_of_any_shape():
    stream = KeyStream.from_seed(SEED)
    scalar = noise.gaussian_release(np.array(5.0), 1e-3, 1.0, stream)
    assert isinstance(scalar, np.ndarray)
    assert scalar.shape == ()
    assert abs(scalar - 5.0) < 0.01
    assert noise.gaussian_release(np.zeros((0, 3)), 1.0, 1.0, stream).shape == (0, 3)
    # Nothing saturates.
    huge = np.array([1e300, -1e300, 1e20])
    np.testing.assert_array_equal(noise.gaussian_release(huge, 1.0, 1.0, stream), huge)
    strided = np.arange(20.0).reshape(4, 5).T[::2]
    np.testing.assert_allclose(
        noise.gaussian_release(strided, 1e-6, 1.0, stream), strided, atol=1e-4
    )


def test_gaussian_refuses_nonsense():
    stream = KeyStream.from_seed(SEED)
    with pytest.raises(ValueError, match="values"):
        noise.gaussian_release(np.array([np.nan]), 1.0, 1.0, stream)
    for mu in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="mu"):
            noise.gaussian_release(np.zeros(2), 1.0, mu, stream)
    for sensitivity in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="sensitivity"):
            noise.gaussian_release(np.zeros(2), sensitivity, 1.0, stream)
    with pytest.raises(ValueError, match="drown"):
        noise.gaussian_release(np.zeros(2), 1.0, 1e-15, stream)
    for sigma in (0, 2**31 + 1, 2**46):
        with pytest.raises(ValueError, match="sigma"):
            noise.rounded_gaussian(1, sigma, stream)


# ------------------------------------------------------------------------------------------ both


def test_seeded_draws_are_the_same_on_both_backends(monkeypatch):
    def draws():
        stream = KeyStream.from_seed(SEED)
        scores = np.random.default_rng(SEED).normal(size=999) * 20
        yield [select.exponential_mechanism(scores, 1.0, 1.0, stream) for _ in range(20)]
        yield [select.exponential_mechanism(scores, 1, 30, stream, signed=True) for _ in range(20)]
        yield select.exponential_top_k(scores, 1.0, 3.0, 10, stream).tolist()
        yield noise.gaussian_release(scores, 1.0, 0.01, stream).tolist()
        yield noise.rounded_gaussian(20_000, 2**44, stream).tolist()
        yield [stream.bits(64)]  # as many bits were used

    in_use = list(draws())
    monkeypatch.setattr(select, "kernel", sample_reference)
    monkeypatch.setattr(noise, "kernel", sample_reference)
    assert in_use == list(draws())


@pytest.mark.skipif(not COMPILED, reason="the kernels are not compiled")
def test_compiled_kernels_equal_the_reference():
    from sparsedp._kernels.sampling import sample

    table = noise._table(128)
    words = KeyStream.from_seed(SEED).words(40_000)
    for mantissa, exponent, margin in ((2**30, 15, 2.0**-44), (3, 0, 0.1), (2**31 - 1, 7, 1e-3)):
        arguments = (words, table.cumulative, table.heights, mantissa, exponent, margin)
        for ours, theirs in zip(
            sample.gaussian_attempts(*arguments),
            sample_reference.gaussian_attempts(*arguments),
            strict=True,
        ):
            np.testing.assert_array_equal(ours, theirs)


# ---------------------------------------------------------------------------------------- counts


@pytest.mark.parametrize(("epsilon", "sensitivity"), [(0.5, 1), (0.1, 1), (3.0, 2), (1 / 3, 7)])
def test_discrete_laplace(epsilon, sensitivity):
    stream = KeyStream.from_seed(SEED)
    draws = [count.discrete_laplace(epsilon, sensitivity, stream) for _ in range(5000)]
    bound = max(np.abs(draws).max(), math.ceil(60 * sensitivity / epsilon))
    support = np.arange(-bound, bound + 1)
    assert_distribution(np.add(draws, bound), np.exp(-np.abs(support) * epsilon / sensitivity))


def test_discrete_laplace_agrees_with_opendp():
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    theirs = dp.m.make_laplace(*space, scale=5.0)([0] * 5000)
    stream = KeyStream.from_seed(SEED)
    assert_same_distribution([count.discrete_laplace(0.2, 1, stream) for _ in range(5000)], theirs)


def test_noisy_count():
    stream = KeyStream.from_seed(SEED)
    draws = [count.noisy_count(99, 2, 5, 1.5, stream) for _ in range(5000)]
    noise_mass = np.exp(-0.5 * np.abs(np.arange(-200, 201)))
    totals = np.clip(5 + np.arange(-200, 201), 2, 5)
    assert_distribution(np.subtract(draws, 2), np.bincount(totals - 2, weights=noise_mass))
    before = KeyStream.from_seed(SEED)
    assert count.noisy_count(-7, 4, 4, 1.0, before) == 4
    assert before.bits(64) == KeyStream.from_seed(SEED).bits(64)
    assert count.noisy_count(10**30, 0, 10**31, 1e-3, stream) in range(10**31 + 1)
    for epsilon in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="epsilon"):
            count.noisy_count(1, 0, 2, epsilon, stream)
    with pytest.raises(ValueError, match="exceed"):
        count.noisy_count(1, 3, 2, 1.0, stream)
    with pytest.raises(ValueError, match="sensitivity"):
        count.discrete_laplace(1.0, 0, stream)


@pytest.mark.parametrize("n", [1, 7, 100])
def test_linear_terms_pay_for_their_grid(n):
    # Every entry lies within half a grid unit of the real number that it is the rounding of.
    for sigma in (1e-3, 0.7, 5.0):
        vector, slip = gaussian_linear_term(n, sigma, KeyStream.from_seed(SEED))
        grid = 2.0 ** (math.frexp(sigma)[1] - 44)
        np.testing.assert_array_equal(np.round(vector / grid), vector / grid)
        assert slip >= math.sqrt(n) * grid / 2


def test_laplace_releases_pay_for_their_grid(monkeypatch):
    # Rounded to the grid, n values move by one unit each beyond what they move in L1 norm.
    asked = []

    def watched(epsilon, sensitivity, stream):
        asked.append(sensitivity)
        return 0

    monkeypatch.setattr(linear, "discrete_laplace", watched)
    for n, sensitivity in ((1, 1.0), (50, 0.3), (3000, 1e-9)):
        asked.clear()
        values = np.random.default_rng(n).normal(size=n)
        released = linear.laplace_release(values, sensitivity, 1.0, KeyStream.from_seed(SEED))
        span = math.sqrt(n) * sensitivity
        grid = 2.0 ** (math.frexp(span)[1] - 20)
        assert np.abs(released - values).max() <= grid / 2
        assert set(asked) == {math.ceil(span / grid) + n}

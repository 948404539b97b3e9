"""Compiled loops over raw cells against their references, which any other way of reading is."""

import math
import string

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sparsedp._kernels.schema import COMPILED, cells_reference
from sparsedp.data.schema.kinds.text import Text, words_of
from sparsedp.data.schema.kinds.writing import PLAIN, Writing
from tests.schema.test_locality import HOSTILE

if COMPILED:
    from sparsedp._kernels.schema import cells as kernel
else:
    kernel = cells_reference

TEXTS = st.one_of(
    st.text("0123456789.,-+ eE%_", max_size=24),
    st.text(max_size=12),
    st.floats(0, 1e6).map(lambda x: f"{x:,.2f}"),
    st.floats(allow_nan=False).map(repr),
    st.integers(-(2**63), 2**63).map(str),
)
WRITINGS = [
    PLAIN,
    Writing(decimal=",").or_else(PLAIN),
    Writing(decimal=",", thousands=".").or_else(PLAIN),
    Writing(thousands=",").or_else(PLAIN),
    Writing(thousands=" ", percent=True, currency="€", parentheses=True).or_else(PLAIN),
]


def bits(values):
    return np.asarray(values, dtype=np.float64).tobytes()


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(TEXTS, max_size=12), st.sampled_from(WRITINGS))
def test_numbers_are_those_of_the_longer_way_to_the_last_bit(texts, writing):
    cells = [*texts, *HOSTILE]
    found = writing.numbers(cells, writing.remember())
    longer = [writing.number(cell) for cell in cells]
    assert np.array_equal(found, longer, equal_nan=True)
    assert bits(np.nan_to_num(found)) == bits(np.nan_to_num(longer))
    mark = writing.thousands if writing.thousands in (".", ",") else ""
    read = []
    for loops in (kernel, cells_reference):
        out, left = np.zeros(len(cells)), np.zeros(len(cells), dtype=np.uint8)
        loops.numbers(cells, out, left, writing.decimal, mark, not writing.doubts_floats)
        assert np.array_equal(out[left == 0], found[left == 0], equal_nan=True)
        read.append((left.tobytes(), bits(np.where(left, 0.0, out))))
    assert read[0] == read[1]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.one_of(st.text(string.printable, max_size=30), st.text(max_size=9)), max_size=9))
def test_words_are_those_of_the_longer_way(texts):
    kind = Text(words=7, row_norm=1e6)
    cells = [*texts, *HOSTILE, "\t null \n", "Infinity", "1_000e5 ", "a" * 300 + " b", "True story"]
    out = np.empty((len(cells), 7))
    gaps = kind.writer()(cells, out)
    for i, cell in enumerate(cells):
        words = words_of(cell)
        assert gaps[i] == (words is None)
        expected = np.bincount([kind._slot(word) for word in words or ()], minlength=7)
        assert np.array_equal(out[i], expected)


def test_other_loops():
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(0, 1e3, 4000), [0.0, -0.0, 1e300, -1e300, 5e-324]])
    for period in (24.0, 1e-3, 360.0):
        pairs = [np.empty((len(values), 3)) for _ in range(2)]
        for loops, out in zip((kernel, cells_reference), pairs, strict=True):
            loops.circle(values, period, out[:, 1:])
        assert bits(pairs[0][:, 1:]) == bits(pairs[1][:, 1:])
    positive = np.abs(values)
    logs = [np.empty(len(values)) for _ in range(2)]
    for loops, out in zip((kernel, cells_reference), logs, strict=True):
        loops.log1p(positive, out)
    assert bits(logs[0]) == bits(logs[1]) == bits([math.log1p(x) for x in positive])
    codes, slots = rng.integers(0, 4, 100).astype(float), np.array([2, -1, 0, 1])
    hot = [np.full((100, 5), 7.0) for _ in range(2)]
    for loops, out in zip((kernel, cells_reference), hot, strict=True):
        loops.one_hot(codes, slots, out[:, ::2])
    assert np.array_equal(*hot)
    table = {"a": 1.0, "b": math.nan}
    cells = ["a", "b", "c", None, math.nan, 1.0, "A", *HOSTILE]
    seen = [(np.zeros(len(cells)), np.zeros(len(cells), dtype=np.uint8)) for _ in range(2)]
    for loops, (out, left) in zip((kernel, cells_reference), seen, strict=True):
        loops.seen(cells, table, out, left)
    assert np.array_equal(seen[0][0], seen[1][0], equal_nan=True)
    assert np.array_equal(seen[0][1], seen[1][1])

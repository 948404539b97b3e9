"""No record changes what becomes of another, whatever it holds and whatever holds the table."""

import datetime
import io
import math
import time
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparsedp import Schema
from sparsedp.data.schema.frame import Frame
from tests.schema.tables import CELLS, COLUMNS, HOSPITAL

SCHEMA = Schema.from_toml(HOSPITAL)
N = len(CELLS["age"])


class Strange:
    """A cell that cannot be compared, hashed, printed or converted."""

    __hash__ = None

    def __eq__(self, other):
        raise RuntimeError("compared")

    def __float__(self):
        raise RuntimeError("converted")

    def __str__(self):
        raise RuntimeError("printed")

    __repr__ = __str__


HOSTILE = [
    *(None, math.nan, -math.inf, math.inf, 1e308, -0.0, 5e-324, 2**53 + 1, 10**400, True, False),
    *(
        "",
        " ",
        "nan",
        "inf",
        "1e999",
        "1e-999999999",
        "-",
        "(",
        "()",
        "%",
        "€",
        "\ud800",
        "a" * 9999,
    ),
    *("1.5", "1,5", "1.234", "true", "0x1", "00", "01.01.0001", "31.12.9999", "99.99.9999"),
    *(
        "2020-01-01",
        "20200101",
        "\x00",
        "é",
        "e\u0301",
        "İ",
        "ß",
        "M",
        "F",
        "Syd",
        "7.0",
        "indicator",
    ),
    *(b"\xff", b"5", Decimal("sNaN"), Decimal("1e9999"), 1j, [1, 2], {"a": 1}, (), {1}, object()),
    *(np.float32(0.1), np.int64(2**62), np.datetime64("NaT"), np.datetime64("2020-01-01"), pd.NA),
    *(pd.NaT, datetime.date(1, 1, 1), datetime.datetime(9999, 12, 31), datetime.timedelta(1)),
    *(pd.Timestamp("2020-01-01", tz="UTC"), np.str_("M"), Strange()),
]
"""Cells of every type; each of them in each column must leave all other records as they are."""


def with_records(name, hostile):
    """The table, then a record for each hostile cell of one column."""
    records = {key: [*cells, *[cells[0]] * len(hostile)] for key, cells in CELLS.items()}
    return {**records, name: [*CELLS[name], *hostile]}


BEFORE = SCHEMA.encode(CELLS, "replace")


@pytest.mark.parametrize("name", COLUMNS)
def test_a_hostile_cell_changes_its_own_record_alone(name):
    """Each hostile record beside the table, and all of them at once: the same to the last bit."""
    lower, upper = SCHEMA.bounds.arrays(SCHEMA.n_columns)
    crowd = SCHEMA.encode(with_records(name, HOSTILE), "replace")
    assert crowd[:N].tobytes() == BEFORE.tobytes()
    assert np.isfinite(crowd).all()
    assert ((crowd >= lower) & (crowd <= upper)).all()
    for i, hostile in enumerate(HOSTILE):
        after = SCHEMA.encode(with_records(name, [hostile]), "replace")
        assert after[:N].tobytes() == BEFORE.tobytes()
        assert after[N].tobytes() == crowd[N + i].tobytes()


PLAIN = Schema.from_toml("""
[features.number]
lower = -10
upper = 10
missing = "indicator"
[features.scaled]
lower = 0
upper = 10
transform = "log1p"
[features.whole]
kind = "whole"
lower = 0
upper = 9
[features.binned]
bins = [1, 2]
[features.category]
categories = [1, 2, 3]
missing = "indicator"
[features.mixed]
categories = ["1", "b"]
other = true
[features.flag]
kind = "yes_no"
[features.day]
kind = "date"
parts = ["month", "days"]
lower = 2000-01-01
upper = 2030-01-01
format = "%Y%m%d"
[features.hour]
period = 24
[features.notes]
words = 4
""")

TYPED: dict[str, list[object]] = {
    "number": [1.5, -3.25, 9.0],
    "scaled": [1, 2, 3],
    "whole": [1, 2, 3],
    "binned": [0.5, 1.0, 7.0],
    "category": [1, 2, 3],
    "mixed": [1, 1, 2],
    "flag": [True, False, True],
    "day": [20200131, 20111231, 20290228],
    "hour": [1, 2, 23],
    "notes": ["a b", "b", "c"],
}
RETYPING = [None, math.nan, "x", "1", 0.5, True, 2**60, "", b"q", "2020-01-01", -1]
"""Cells that make a container choose another type for all cells of a column."""

CONTAINERS = {
    "lists": lambda columns: columns,
    "pandas": pd.DataFrame,
    "polars": lambda columns: pl.DataFrame(columns, strict=False),
    "objects": lambda columns: pd.DataFrame(columns, dtype=object),
}


@pytest.mark.parametrize("name", TYPED)
@pytest.mark.parametrize("container", CONTAINERS)
def test_a_cell_that_changes_the_type_of_its_column_changes_no_other_record(container, name):
    """A missing cell makes pandas store whole numbers as floats: they are still the same ones."""
    before = PLAIN.encode(CONTAINERS[container](TYPED), "replace")
    for hostile in RETYPING:
        if container == "polars" and isinstance(hostile, bytes):
            continue  # polars itself refuses bytes beside text
        table = {key: [*cells, cells[0]] for key, cells in TYPED.items()}
        table[name] = [*TYPED[name], hostile]
        try:
            after = PLAIN.encode(CONTAINERS[container](table), "replace")
        except (TypeError, OverflowError, pl.exceptions.PolarsError):
            continue  # refused by the container
        assert after[:3].tobytes() == before.tobytes()


def test_the_same_table_in_any_container_is_the_same_to_the_last_bit():
    expected = PLAIN.encode(TYPED)
    written = {name: [str(cell) for cell in cells] for name, cells in TYPED.items()}
    forms = [pd.DataFrame(TYPED), pl.DataFrame(TYPED), pa.table(TYPED)]
    forms += [written, pd.DataFrame(written), pl.DataFrame(written), pa.table(written)]
    forms += [pd.DataFrame(TYPED, dtype=object), pd.DataFrame(TYPED).convert_dtypes()]
    forms += [pd.DataFrame(TYPED).convert_dtypes(dtype_backend="pyarrow")]
    forms += [
        pa.table(TYPED).slice(0, 3),
        pl.DataFrame(TYPED).with_columns(pl.col("hour").cast(float)),
    ]
    for frame in forms:
        assert PLAIN.encode(frame).tobytes() == expected.tobytes()


CELL = st.one_of(
    st.sampled_from([cell for cells in CELLS.values() for cell in cells]),
    st.sampled_from([cell for cell in HOSTILE if isinstance(cell, str) and "\ud800" not in cell]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    st.floats(allow_nan=False).map(str),
    st.integers(-(2**70), 2**70).map(str),
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.tuples(*[CELL] * len(COLUMNS)), min_size=1, max_size=4))
def test_text_in_any_container_is_the_same_and_each_record_is_its_own(rows):
    table = {name: [row[j] for row in rows] for j, name in enumerate(COLUMNS)}
    expected = SCHEMA.encode(table, "replace")
    lower, upper = SCHEMA.bounds.arrays(SCHEMA.n_columns)
    assert ((expected >= lower) & (expected <= upper)).all()
    for frame in (pd.DataFrame(table), pl.DataFrame(table), pa.table(table)):
        assert SCHEMA.encode(frame, "replace").tobytes() == expected.tobytes()
    for i, row in enumerate(rows):
        alone = {name: [cell] for name, cell in zip(COLUMNS, row, strict=True)}
        assert SCHEMA.encode(alone, "replace").tobytes() == expected[i].tobytes()


def test_blocks_and_what_was_remembered_make_no_difference():
    """More distinct texts than are remembered, over several blocks of records."""
    rng = np.random.default_rng(0)
    n = 20_000
    numbers = [f"{value:.6f} €".replace(".", ",") for value in rng.uniform(0, 120, n)]
    table = {name: [CELLS[name][i % N] for i in range(n)] for name in COLUMNS} | {"income": numbers}
    whole = SCHEMA.encode(table)
    for start in (0, 8_191, 8_192, n - 1):
        part = {name: cells[start : start + 3] for name, cells in table.items()}
        assert SCHEMA.encode(part).tobytes() == whole[start : start + 3].tobytes()


def test_columns_of_few_texts_are_the_same_by_text_as_by_record():
    n = 20_000
    table = {name: [CELLS[name][i % N] for i in range(n)] for name in COLUMNS}
    table["sex"][-1] = None
    table["ward"][0] = "nowhere"
    expected = SCHEMA.encode(table, "replace")
    for frame in (pd.DataFrame(table), pa.table(table)):
        assert Frame.of(frame).coded("age") is not None
        assert SCHEMA.encode(frame, "replace").tobytes() == expected.tobytes()
        with pytest.raises(ValueError, match="column 'ward' has cells that are not among"):
            SCHEMA.encode(frame)
    table["ward"][0] = table["ward"][1]
    for frame in (pd.DataFrame(table), pa.table(table)):
        assert SCHEMA.encode(frame).tobytes() == SCHEMA.encode(table).tobytes()


@pytest.mark.parametrize("name", [name for name in COLUMNS if name not in ("notes", "sex")])
def test_messages_quote_no_cell(name):
    mark = "S3CRET"
    for hostile in (mark, [mark], {mark: mark}, mark.encode()):
        table = {**CELLS, name: [*CELLS[name][:-1], hostile]}
        with pytest.raises(ValueError, match=name) as caught:
            SCHEMA.encode(table)
        found: BaseException | None = caught.value
        while found is not None:
            assert mark not in f"{found!r} {found}"
            found = found.__cause__ or found.__context__


@pytest.mark.parametrize(
    ("said", "cells"),
    [
        ({"categories": ["INF", "CHI", "1"], "other": True}, ["INF", "INF", "1"]),
        ({"categories": ["inf", "-inf"]}, ["inf", "-inf", "inf"]),
        ({"kind": "text", "words": 4}, ["Infinity", "5"]),
        ({"lower": 0, "upper": 99, "decimal": ","}, ["7", "7.8", "1.5"]),
        ({"lower": 0, "upper": 9999, "decimal": ",", "thousands": "."}, ["7", "1.234"]),
    ],
)
@pytest.mark.parametrize("backend", ["numpy", "numpy_nullable", "pyarrow"])
def test_a_cell_that_makes_pandas_keep_text_changes_its_own_record_alone(said, cells, backend):
    """pandas reads these as numbers, and as text where one cell is none; or they are refused."""
    schema = Schema.from_dict({"features": {"x": said}})
    found, refused = [], []
    for last in ("3", "ward"):
        text = "\n".join(["x", *cells, last])
        kind = {} if backend == "numpy" else {"dtype_backend": backend}
        frame = pd.read_csv(io.StringIO(text), **kind)
        try:
            found.append(schema.encode(frame, "replace")[:-1].tobytes())
        except ValueError as error:
            refused.append(str(error))
    assert len(found) < 2 or found[0] == found[1]
    assert all("typed = true" in m or "holds numbers, not text" in m for m in refused)
    assert not refused or "decimal" in said or "words" in said


def test_marks_of_one_cell_do_not_take_hours():
    marks = "a" + "\u0316\u0301" * 10**6
    schema = Schema.from_dict(
        {
            "features": {
                "ward": {"categories": ["a", "b"], "other": True},
                "notes": {"kind": "text", "words": 4},
            }
        }
    )
    before = time.process_time()
    schema.encode({"ward": [marks], "notes": [marks]})
    assert time.process_time() - before < 20  # quadratic time would be an hour

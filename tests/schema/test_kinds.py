"""What cells become, kind by kind, against values written by hand."""

import datetime
import json
import math
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sparsedp import Schema
from sparsedp.data.schema import Category, Number, YesNo


def encoded(feature, cells, invalid="raise", **tables):
    schema = Schema.from_dict({"features": {"x": feature}, **tables})
    X = schema.encode({"x": list(cells)}, invalid)
    lower, upper = schema.bounds.arrays(schema.n_columns)
    assert np.isfinite(X).all()
    assert (lower <= X).all()
    assert (upper >= X).all()
    binary = schema.bounds.binary_features(schema.n_columns)
    assert np.isin(X[:, binary], (0.0, 1.0)).all() or feature.get("binary")
    return schema.feature_names, X.tolist()


LIMITS = {"lower": 0, "upper": 100}


@pytest.mark.parametrize(
    ("said", "cells", "values"),
    [
        ({}, ["1", " 2.5 ", 3, 4.5, True, "true", "1e2", "-7", "700", b"5"],
         [1, 2.5, 3, 4.5, 1, 1, 100, 0, 100, 5]),
        ({"decimal": ","}, ["1,5", "3", 2, ",5", "1,5e1"], [1.5, 3, 2, 0.5, 15]),
        ({"decimal": ",", "thousands": ".", "upper": 1e7}, ["1.234,5", "1.234.567", "12"],
         [1234.5, 1234567, 12]),
        ({"thousands": ",", "upper": 1e7}, ["1,234.5", "1234.5", "12,345,678"],
         [1234.5, 1234.5, 1e7]),
        ({"thousands": " ", "upper": 1e7}, ["1 234", "1\u00a0234", "1\u202f234"], [1234] * 3),
        ({"thousands": "'", "upper": 1e7}, ["1'234", "1\u2019234"], [1234] * 2),
        ({"percent": True}, ["50%", "12.5 %", "3"], [0.5, 0.125, 3]),
        ({"currency": "€", "decimal": ","}, ["€ 3,5", "3,5 €", "3,5€", "+€4"], [3.5, 3.5, 3.5, 4]),
        ({"currency": ["$", "USD"], "lower": -9}, ["$3", "-$3", "$-3", "3 USD"], [3, -3, -3, 3]),
        ({"parentheses": True, "lower": -100}, ["(5)", "5", "(1.5)"], [-5, 5, -1.5]),
        ({"lower": -100}, ["\u22125"], None),
        ({"decimal": ",", "lower": -100}, ["\u22125", "-5"], [-5, -5]),
        ({"kind": "whole"}, ["3", 3.0, "3.0", 4], [3, 3, 3, 4]),
        ({"missing": 7}, ["", None, math.nan, "NA", "1", "?", "null"], [7, 7, 7, 7, 1, 7, 7]),
        ({"transform": "log1p"}, ["0", "1", "1000"],
         [0, math.log1p(1), math.log1p(100)]),
        ({"transform": "sqrt"}, ["0", "4", "1000"], [0, 2, 10]),
    ],
)  # fmt: skip
def test_numbers(said, cells, values):
    feature = {**LIMITS, **said}
    if values is None:
        with pytest.raises(ValueError, match="column 'x' has cells that are not finite numbers"):
            encoded(feature, cells)
        return
    assert encoded(feature, cells)[1] == [[float(value)] for value in values]


@pytest.mark.parametrize(
    ("said", "cell"),
    [
        ({}, "1,5"), ({}, "1 000"), ({}, "5%"), ({}, "inf"), ({}, 10**400), ({}, "abc"),
        ({}, datetime.date(2020, 1, 1)), ({}, [1]), ({}, 1 + 2j), ({}, "0x10"),
        ({"decimal": ","}, "1.5"), ({"decimal": ",", "thousands": "."}, "1.5"),
        ({"thousands": ","}, "12,34"), ({"thousands": ","}, "1,2345"), ({"thousands": ","}, ","),
        ({"percent": True}, "%"), ({"currency": "€"}, "€"), ({"currency": "€"}, "$5"),
        ({"currency": "€"}, "€5€"), ({"parentheses": True}, "(-5)"), ({"kind": "whole"}, "1.5"),
        ({"decimal": ","}, "--5"), ({"decimal": ","}, "١٢"),
    ],
)  # fmt: skip
def test_what_is_no_number_raises_or_is_the_middle(said, cell):
    with pytest.raises(ValueError, match="say how they are written") as error:
        encoded({**LIMITS, **said}, ["1", cell])
    assert str(cell) not in str(error.value) or len(str(cell)) == 1
    assert encoded({**LIMITS, **said}, ["1", cell], "replace")[1] == [[1.0], [50.0]]
    tables = {"bounds": {"row_norm": 5}}
    assert encoded({**LIMITS, **said}, ["1", cell], "replace", **tables)[1] == [[1.0], [0.0]]
    shown = {**LIMITS, **said, "missing": "indicator"}
    assert encoded(shown, ["1", cell], "replace")[1] == [[1.0, 0.0], [50.0, 1.0]]


def test_floats_are_doubted_where_a_point_stands_between_thousands():
    """pandas reads a column of "1.234" as fractions, and as text where one cell is "1.234,5"."""
    said = {"lower": 0, "upper": 1e6, "thousands": ".", "decimal": ","}
    schema = Schema.from_dict({"features": {"x": said}})
    assert schema.encode({"x": ["1.234", 1234, "1234"]}).tolist() == [[1234.0]] * 3
    for frame in (
        pd.DataFrame({"x": [1.234]}),
        pl.DataFrame({"x": [1.234]}),
        pa.table({"x": [1.234]}),
        {"x": np.array([1.234])},
    ):
        with pytest.raises(ValueError, match="declare typed = true"):
            schema.encode(frame, "replace")
    with pytest.raises(ValueError, match="say how they are written"):
        schema.encode({"x": [1.234]})
    typed = Schema.from_dict({"features": {"x": said | {"typed": True}}})
    assert typed.encode({"x": [1.5, "1.234,5"]}).tolist() == [[1.5], [1234.5]]
    assert typed.encode(pd.DataFrame({"x": [1.5]})).tolist() == [[1.5]]


def test_missing_numbers_raise_unless_declared():
    with pytest.raises(ValueError, match="column 'x' has missing cells: declare missing"):
        encoded(LIMITS, ["1", ""])
    names, X = encoded({**LIMITS, "missing": "indicator"}, ["1", "", "nan"])
    assert names == ("x", "x missing")
    assert X == [[1, 0], [50, 1], [50, 1]]


def test_bins_and_knots():
    names, X = encoded({"bins": [18.5, 25]}, ["18.4", "18.5", "25", "-1e9"])
    assert names == ("x<18.5", "18.5<=x<25", "x>=25")
    assert X == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]
    names, X = encoded({"knots": [0, 1, 5], "missing": "indicator"}, ["-9", "0.5", "2", "99", ""])
    assert names == ("x~0", "x~1", "x~5", "x missing")
    assert X == [[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0, 0.75, 0.25, 0], [0, 0, 1, 0], [0, 0, 0, 1]]


def test_categories():
    names, X = encoded({"categories": ["F", "M"]}, ["F", " M ", "M"])
    assert names == ("x=M",)
    assert X == [[0], [1], [1]]
    names, X = encoded({"categories": ["a", "b", "c"]}, ["c", "a"])
    assert names == ("x=a", "x=b", "x=c")
    assert X == [[0, 0, 1], [1, 0, 0]]
    said = {"categories": ["F", "M"], "other": True, "missing": "indicator"}
    names, X = encoded(said, ["F", "M", "m", None, ""])
    assert names == ("x=M", "x other", "x missing")
    assert X == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]]
    said = {"categories": ["F", "M"], "other": "M", "missing": "none", "fold_case": True}
    assert encoded(said, ["f", "m", "x", None])[1] == [[0], [1], [1], [0]]
    said = {"categories": ["a"], "other": "none"}
    assert encoded(said, ["a", "b"])[1] == [[1], [0]]
    # The declared text may say "none" or NA itself.
    assert encoded({"categories": ["none", "NA", "x"]}, ["NA", "none"])[1] == [[0, 1, 0], [1, 0, 0]]
    # Composed and decomposed letters are one; a case is another letter.
    assert encoded({"categories": ["e\u0301", "z"]}, ["\u00e9", " e\u0301"])[1] == [[0], [0]]
    with pytest.raises(ValueError, match="column 'x' has cells that are not among its declared"):
        encoded({"categories": ["F", "M"]}, ["f"])
    with pytest.raises(ValueError, match="column 'x' has missing cells"):
        encoded({"categories": ["F", "M"]}, [""])
    assert encoded({"categories": ["F", "M"]}, ["f", "", "M"], "replace")[1] == [[0], [0], [1]]


def test_a_reference_has_no_column():
    said = {"categories": ["a", "b", "c"], "reference": "b"}
    names, X = encoded(said, ["c", "b", "a"])
    assert names == ("x=a", "x=c")
    assert X == [[0, 1], [0, 0], [1, 0]]
    said |= {"other": True, "missing": "b"}
    names, X = encoded(said, ["z", "", "c"])
    assert names == ("x=a", "x=c", "x other")
    assert X == [[0, 0, 1], [0, 0, 0], [0, 1, 0]]
    assert encoded({"categories": ["F", "M"], "reference": "M"}, ["F", "M"]) == (
        ("x=F",),
        [[1], [0]],
    )
    with pytest.raises(ValueError, match="reference must be one of the categories"):
        encoded({"categories": ["a", "b"], "reference": "c"}, ["a"])
    with pytest.raises(ValueError, match="reference needs another category"):
        encoded({"categories": ["a"], "reference": "a"}, ["a"])


@pytest.mark.parametrize(
    "said",
    [
        {"lower": 0, "upper": 1},
        {"categories": ["a", "b"]},
        {"kind": "yes_no"},
        {"kind": "date", "lower": "2020-01-01", "upper": "2021-01-01"},
        {"period": 24},
        {"words": 4},
    ],
)
def test_every_kind_may_say_where_its_declaration_comes_from(said):
    schema = Schema.from_dict({"features": {"x": {**said, "source": "the code book of 2024"}}})
    assert schema.features["x"].source == "the code book of 2024"
    assert Schema.from_dict(schema.to_dict()) == schema
    for wrong in ("", "two\nlines", 7, "x" * 201):
        with pytest.raises(ValueError, match="source must"):
            Schema.from_dict({"features": {"x": {**said, "source": wrong}}})


@pytest.mark.parametrize("categories", [[1, 2, 3], ["1", "2", "3"], ["1.0", 2, 3.0], [1, 2, 3.0]])
def test_numbers_are_matched_by_value(categories):
    said = {"categories": categories, "missing": "indicator"}
    expected = [[0, 1, 0, 0], [0, 0, 1, 0]]
    for cells in ([2, 3], ["2", "3"], [2.0, 3.0], ["2.0", "3.00"], [np.int8(2), "3"]):
        assert encoded(said, cells)[1] == expected
    schema = Schema.from_dict({"features": {"x": said}})
    frames = [
        pd.DataFrame({"x": [2.0, 3.0, math.nan]}),  # what pandas makes of a missing cell
        pd.DataFrame({"x": pd.array([2, 3, None], dtype="Int64")}),
        pd.DataFrame({"x": pd.Categorical([2, 3, None])}),
        pd.DataFrame({"x": ["2", "3", None]}),
        pl.DataFrame({"x": [2, 3, None]}),
        pl.DataFrame({"x": [2.0, 3.0, math.nan]}),
        pa.table({"x": [2, 3, None]}),
        {"x": np.array([2.0, 3.0, math.nan])},
    ]
    for frame in frames:
        assert schema.encode(frame).tolist() == [*expected, [0, 0, 0, 1]]


def test_many_categories_in_a_typed_column():
    categories = list(range(40))
    said = {"categories": categories, "other": True, "missing": "indicator"}
    schema = Schema.from_dict({"features": {"x": said}})
    cells = [0.0, 39.0, 77.0, math.nan, 0.5]
    typed = schema.encode({"x": np.array(cells)})
    assert np.array_equal(typed, schema.encode({"x": cells}))
    assert np.flatnonzero(typed).tolist() == [0, 42 + 39, 2 * 42 + 40, 3 * 42 + 41, 4 * 42 + 40]


def test_yes_and_no():
    cells = ["Yes", "no", "Y", "n", "TRUE", "False", 1, 0, True, "0.0", " t "]
    assert encoded({"kind": "yes_no"}, cells) == (
        ("x",), [[1], [0], [1], [0], [1], [0], [1], [0], [1], [0], [1]],
    )  # fmt: skip
    said = {"yes": ["ja", "1", "true"], "no": ["nein", "0"], "missing": "no"}
    assert encoded(said, ["ja", "nein", "", True, "1"])[1] == [[1], [0], [0], [1], [1]]
    with pytest.raises(ValueError, match="not yes or no"):
        encoded(said, ["Ja"])
    typed = Schema(features={"x": YesNo()}).encode(pd.DataFrame({"x": [True, False]}))
    assert typed.tolist() == [[1], [0]]


def test_dates():
    said = {"kind": "date", "parts": ["days", "year"], "lower": "2000-01-01", "upper": "2001-12-31"}
    names, X = encoded(
        said, ["2000-01-02", "2001-01-01T23:59:59+05:00", "1999-01-01", "2050-01-01"]
    )
    assert names == ("x days", "x year")
    assert X == [[1, 2000], [366, 2001], [0, 2000], [730, 2001]]
    said = {"kind": "date", "parts": ["month", "weekday"], "format": "%d.%m.%Y"}
    names, X = encoded(said, ["29.02.2024", "1.12.1903"])
    assert [names[j] for j in np.flatnonzero(X[0])] == ["x month=2", "x weekday=Thursday"]
    assert [names[j] for j in np.flatnonzero(X[1])] == ["x month=12", "x weekday=Tuesday"]
    said = {"parts": ["day_of_year"], "missing": "indicator"}
    names, X = encoded(said, ["2023-01-01", "2023-07-02", ""])
    angle = 2 * math.pi * (182 / 365.25)
    assert [[0, 1, 0], [math.sin(angle), math.cos(angle), 0], [0, 0, 1]] == X
    assert encoded(said | {"format": "%d.%m.%Y"}, ["2023-01-01"])[1] == [[0, 1, 0]]
    for cell in ("30.02.2024", "2024-02-30", 5, "x", datetime.time(1)):
        with pytest.raises(ValueError, match="column 'x' has cells that are not dates"):
            encoded({"kind": "date", "parts": ["month"], "format": "%d.%m.%Y"}, [cell])


def test_dates_in_digits_are_the_same_as_numbers():
    """A program reads 01022020 as 1022020, and as 1022020.0 where one is missing."""
    for form, text in (("%Y%m%d", "20200201"), ("%d%m%Y", "01022020"), (None, "20200201")):
        said = {"kind": "date", "parts": ["month", "weekday"]} | ({"format": form} if form else {})
        cells = [text, int(text), float(text), str(int(text)), f"{float(text)}", np.int64(text)]
        rows = encoded(said, cells)[1]
        assert rows == [rows[0]] * len(cells)
        assert np.flatnonzero(rows[0]).tolist() == [1, 12 + 5]  # a Saturday in February
        typed = Schema.from_dict({"features": {"x": said}}).encode({"x": np.array([float(text)])})
        assert typed.tolist() == rows[:1]


def test_dates_by_type():
    said = {"kind": "date", "parts": ["days"], "lower": "2000-01-01", "upper": "2030-01-01"}
    schema = Schema.from_dict({"features": {"x": said}})
    moments = [datetime.datetime(2020, 1, 1, 23, 30), datetime.datetime(1999, 12, 31, 23), None]
    expected = [[7305.0], [0.0], [(10958 / 2)]]
    zoned = pd.Series(moments).dt.tz_localize("Asia/Tokyo")
    frames = [
        {"x": moments},
        {"x": np.array(moments, dtype="datetime64[s]")},
        {"x": np.array(["2020-01-01", "1999-01-01", "NaT"], dtype="datetime64[D]")},
        {"x": ["2020-01-01", "1999-01-01", None]},
        pd.DataFrame({"x": moments}),
        pd.DataFrame({"x": zoned}),
        pd.DataFrame({"x": pd.Series(moments).astype("timestamp[ns][pyarrow]")}),
        pd.DataFrame({"x": pd.Series(moments, dtype=object)}),
        pl.DataFrame({"x": moments}),
        pl.DataFrame({"x": pl.Series(moments).dt.replace_time_zone("Asia/Tokyo")}),
        pl.DataFrame({"x": pl.Series(moments).dt.date()}),
        pa.table({"x": pa.array(moments, pa.timestamp("ns"))}),
        pa.table({"x": pa.array(zoned)}),
        pa.table({"x": pa.array([m and m.date() for m in moments])}),
    ]  # fmt: skip
    for frame in frames:
        assert schema.encode(frame, "replace").tolist() == expected
        typed = not isinstance(frame, dict) or isinstance(frame["x"], np.ndarray)
        if typed and frame is not frames[7]:
            with pytest.raises(ValueError, match="column 'x' holds dates: declare kind"):
                Schema(features={"x": Number(lower=0, upper=1)}).encode(frame, "replace")


def test_cyclic():
    names, X = encoded({"period": 24}, ["0", "6", 30, "-6"])
    assert names == ("x sine", "x cosine")
    assert np.allclose(X, [[0, 1], [1, 0], [1, 0], [-1, 0]], atol=1e-15)
    assert encoded({"period": 24, "missing": "indicator"}, [None])[1] == [[0, 0, 1]]


def test_text():
    said = {"words": 64, "seed": 3}
    _, X = encoded(said, ["Fever, fever and COUGH", "cough AND fever FEVER", "", None, "12.5", "é"])
    assert X[0] == X[1]
    assert sorted(filter(None, X[0])) == pytest.approx([6**-0.5, 6**-0.5, 2 * 6**-0.5])
    assert X[2] == X[3] == X[4] == [0.0] * 64
    assert sum(X[5]) == 1.0
    assert encoded(said, ["Fever, fever and COUGH", "cough AND fever FEVER", "", None, 12.5,
                               "e\u0301"])[1] == X  # fmt: skip
    assert encoded({"words": 64, "seed": 4}, ["Fever, fever and COUGH"])[1] != X
    schema = Schema.from_dict({"features": {"x": said}})
    assert schema.bounds.row_norm == 1.0
    with pytest.raises(ValueError, match="column 'x': holds numbers, not text"):
        schema.encode({"x": np.array([1.0])})


def test_words_keep_their_column():
    """The hash is part of every published model: it never changes."""
    _, X = encoded({"words": 1000}, ["fever", "cough"])
    assert [np.flatnonzero(row).tolist() for row in X] == [[442], [843]]


def test_interactions_are_products_on_a_unit_scale():
    schema = Schema.from_toml("""
    [features.age]
    lower = 20
    upper = 120
    [features.sex]
    categories = ["F", "M"]
    missing = "indicator"
    [features.z]
    lower = -1
    upper = 1
    [interactions]
    pairs = [["age", "sex"], ["z", "age"]]
    """)
    names = ("age", "sex=M", "sex missing", "z", "age:sex=M", "age:sex missing", "z:age")
    assert schema.feature_names == names
    X = schema.encode({"age": [70, 500, 0], "sex": ["M", None, "F"], "z": [0, 1, -1]})
    assert X[:, 4:].tolist() == [[0.5, 0, 0.25], [0, 1, 1], [0, 0, 0]]
    assert schema.bounds.binary_features(7).tolist() == [False, True, True] + [False] * 4


def test_some_columns_are_computed_from_what_they_need():
    schema = Schema.from_toml("""
    [bounds]
    lower = 0
    upper = 10
    [features.a]
    [features.b]
    missing = "indicator"
    [features.c]
    [interactions]
    pairs = [["a", "c"]]
    """)
    table = {"a": [1, 2], "b": [3, None], "c": [4, 5]}
    X = schema.encode(table)
    for wanted in ([0], [2, 1], [4], [4, 0], [3, 1]):
        needed = {name: table[name] for name in schema.needs(wanted)}
        assert set(needed) == {schema.feature_names[j].split()[0] for j in wanted if j < 4} | (
            {"a", "c"} if 4 in wanted else set()
        )
        assert np.array_equal(schema.encode(needed, wanted=wanted), X[:, wanted])
    with pytest.raises(ValueError, match="no column 'b'"):
        schema.encode({"a": [1], "c": [1]})


def test_columns_that_are_not_declared():
    schema = Schema.from_toml("[bounds]\nlower=0\nupper=1\n[features.b]\ncategories=['x','y']")
    whole = schema.completed(["a", "b", "c"])
    assert whole.feature_names == ("a", "b=y", "c")
    closed = Schema(features={"b": Category(categories=("x", "y"))}, target="t", person="p")
    assert closed.completed(["p", "b", "t"]) is closed
    with pytest.raises(ValueError, match="says nothing about 'a'"):
        closed.completed(["a", "b", "t", "p"])
    with pytest.raises(ValueError, match="no column 'b'"):
        schema.completed(["a"])


def test_what_does_not_fit_is_counted_for_the_holder():
    schema = Schema.from_toml("""
    [features.n]
    lower = 0
    upper = 1
    [features.m]
    lower = 0
    upper = 1
    missing = "indicator"
    [features.sex]
    categories = ["F", "M"]
    [features.other]
    categories = ["F", "M"]
    other = "F"
    """)
    table = {
        "n": ["1", "", "x", "7"],
        "m": ["1", "", "", "x"],
        "sex": ["F", "m", "m", None],
        "other": ["m", "M", "M", "M"],
    }
    assert schema.unmatched(table) == {"n": 2, "m": 1, "sex": 3}
    assert schema.never(table) == {"sex": ["M"], "other": ["F"]}
    assert schema.matches(table)["other"].other == 1
    assert repr(schema.matches(table)["other"]) == "Match(private)"


def test_roles_are_handed_to_the_gate():
    schema = Schema.from_toml("""
    [person]
    column = "who"
    [target]
    column = "y"
    classes = ["no", "yes"]
    fold_case = true
    [weight]
    column = "w"
    decimal = ","
    [offset]
    column = "log_exposure"
    lower = -3
    upper = 3
    [features.a]
    lower = 0
    upper = 1
    """)
    table = {
        "a": [1, 0], "who": ["p1", 7], "y": ["YES", "maybe"], "w": ["0,5", ""],
        "log_exposure": [1, "x"],
    }  # fmt: skip
    assert schema.target_cells(table) == ["yes", None]
    assert schema.groups(table) == ["p1", 7]
    assert np.array_equal(schema.weights(table), [0.5, math.nan], equal_nan=True)
    assert np.array_equal(schema.offsets(table), [1.0, math.nan], equal_nan=True)
    assert schema.columns == ("a", "log_exposure")
    target = {"column": "y", "lower": 0, "upper": 9}
    number = Schema(features={}, target=target, numbers={"decimal": ","})
    assert np.array_equal(number.target_cells({"y": ["1,5", 2]}), [1.5, 2.0])


def test_round_trip():
    from tests.schema.tables import HOSPITAL

    schema = Schema.from_toml(HOSPITAL)
    assert Schema.from_toml(schema.to_toml()) == schema
    assert Schema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema


def test_binary_numbers_hold_their_limits_alone():
    said = {"lower": 0, "upper": 1, "binary": True}
    schema = Schema.from_dict({"features": {"x": said}})
    assert schema.encode({"x": ["0.5", "1", "7"]}, "replace").tolist() == [[0.0], [1.0], [0.0]]
    with pytest.raises(ValueError, match="not lower or upper, as binary = true says"):
        schema.encode({"x": ["0.5"]})
    with pytest.raises(ValueError, match="missing must be lower or upper"):
        Schema.from_dict({"features": {"x": {**said, "missing": 0.3}}})


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"knots": [-1.7e308, 1.7e308]}, "beyond"),  # their difference is infinite
        ({"lower": 0, "upper": 1, "currency": "5"}, "part of a number"),
        ({"lower": 0, "upper": 1, "currency": ["$", "."]}, "part of a number"),
    ],
)
def test_declarations_that_arithmetic_does_not_carry_are_refused(said, message):
    with pytest.raises(ValueError, match=message):
        Schema.from_dict({"features": {"x": said}})


def test_many_columns_take_no_memory_for_thousands_of_records():
    """A model of strangers declares them in a line; only the wanted ones are kept."""
    schema = Schema.from_dict({"features": {"x": {"kind": "text", "words": 100_000}}})
    tracemalloc.start()
    try:
        found = schema.encode({"x": ["a word"] * 3000}, wanted=[0])
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.shape == (3000, 1)
    assert most < 400e6  # all columns of all records take 2.4e9

"""Persons and weights at the gate: ids cell by cell, whole weights, and what may not matter."""

from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from sparsedp.data.dataset import Dataset
from sparsedp.data.gate.persons import NOBODY, person_codes
from sparsedp.data.gate.units import ONE, handed_out, ordinary, ranks

LARGE = 2**53


def partition(codes: np.ndarray) -> list[int]:
    """Codes by first appearance: only equality means anything."""
    known: dict[int, int] = {NOBODY: NOBODY}
    return [known.setdefault(code, len(known) - 1) for code in codes.tolist()]


def who(cells: Any, invalid: Any = "replace") -> list[int]:
    return partition(person_codes(cells, invalid))


@pytest.mark.parametrize(
    "same",
    [
        [1, 1.0, True, "1", "1.0", b"1", " 1 ", Decimal(1), Fraction(1), np.int8(1), "True"],
        ["a", " a", b"a", np.str_("a")],
        [LARGE + 1, str(LARGE + 1), Decimal(LARGE + 1), np.uint64(LARGE + 1)],
        [UUID(int=5), str(UUID(int=5))],
        [0.5, "0.5"],
    ],
)
def test_what_containers_make_of_one_id_is_one_person(same):
    assert who(same) == [0] * len(same)


@pytest.mark.parametrize(
    "different",
    [
        ["7", "007", "7e0", "0x7", "7.00"],
        ["12e4", "120000", "1e5", "100000"],  # hexadecimal ids that read as numbers
        [LARGE, LARGE + 1, LARGE + 2, str(LARGE + 3)],
        [10**30, 10**30 + 1, "1" * 1001, "1" * 1002],
        ["a", "A", "ä", "a b", b"\xff"],
        [-1, 1, 0, "-2"],
        [i.to_bytes(8, order) for order in ("little", "big") for i in (9, 10, 32, 265, 266)],
        [i.to_bytes(8, "little").rstrip(b"\0") for i in (265, 266, 288)],  # as NumPy has them
    ],
)
def test_other_ids_are_other_persons(different):
    assert who(different) == list(range(len(different)))


NONE = [None, float("nan"), "", "  ", "nan", "None", "<NA>", pd.NA, pd.NaT, float("inf"), [1], 1j]
NONE += ["NA", "n/a", "NULL", "null", "none", "?", "\t", "inf"]  # one person for all is no unit


@pytest.mark.parametrize("cell", NONE, ids=repr)
def test_a_row_without_an_id_raises_or_counts_nothing(cell):
    cells = [1, cell, 1, "x"]
    assert who(cells) == [0, NOBODY, 0, 1]
    with pytest.raises(ValueError, match="missing or neither"):
        person_codes(cells, "raise")


@pytest.mark.parametrize("invalid", ["raise", "replace"])
@pytest.mark.parametrize(
    "ids",
    [
        np.array([float(LARGE), 1.0]),
        np.array([2**24, 1], dtype=np.float32),
        [float(LARGE), 3],
        pd.Series([LARGE + 1, LARGE + 2, None]),
        np.array(["1e+16", "a"]),
        [f"{float(LARGE)}", "a"],
        np.array([1j, 2]),
    ],
    ids=repr,
)
def test_ids_that_became_floats_too_large_are_refused_whatever_is_asked(ids, invalid):
    with pytest.raises(ValueError, match=r"floats too large|Complex|1d"):
        person_codes(ids, invalid)


def containers(ids: list[Any]) -> dict[str, Any]:
    """The same column in all the forms it comes in."""
    return {
        "list": ids,
        "object": np.array(ids, dtype=object),
        "array": np.array(ids),
        "pandas": pd.Series(ids),
        "pandas object": pd.Series(ids, dtype=object),
        "polars": pl.Series(ids, strict=False),
        "arrow": pa.array(ids),
    }


@pytest.mark.parametrize(
    "ids",
    [[5, 3, 5, 8, 3], ["b", "a", "b", "c", "a"], [5, 3, 5, 8, None], ["5", "3", "5", "x", ""]],
)
def test_every_container_says_the_same(ids):
    for name, column in containers(ids).items():
        assert who(column) == who(ids), name


@pytest.mark.parametrize("kind", [np.int64, np.float64, object, "U3"])
def test_masked_ids_are_missing(kind):
    ids = np.ma.array(
        np.array([5, 3, 5, 8, 3]).astype(kind), mask=[False, False, False, True, True]
    )
    assert who(ids) == [0, 1, 0, NOBODY, NOBODY]


def test_nobodys_rows_follow_no_person():
    # A coin that was the first person's would move them when that person goes.
    for coins in ([True, False, True], [True, True, True]):
        persons = np.array([NOBODY, 0, 1, 0, 2, NOBODY])
        assert handed_out(persons, lambda n, c=coins: np.array(c[:n])).tolist() == [
            False,
            *(coins[k] for k in (0, 1, 0, 2)),
            False,
        ]
    assert not handed_out(np.full(3, NOBODY), lambda n: np.ones(n, bool)).any()


@pytest.mark.parametrize("other", [None, "x", 2.5, True, 10**6, float("nan"), "7"])
def test_no_cell_changes_whose_another_row_is(other):
    # NumPy, pandas and polars choose a type for all cells because of one of them.
    ids = [4, 1, 4, 2, 1]
    for name, column in containers([*ids]).items():
        plain = who(column)
        try:
            mixed = containers([*ids, other])[name]
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            continue  # such a column does not exist
        assert who(mixed)[: len(ids)] == plain, name


def test_whole_weights_add_up_to_exactly_one_and_depend_on_the_person_alone():
    random = np.random.default_rng(3)
    persons = random.integers(0, 40, size=500)
    persons[::50] = NOBODY
    whole = ordinary(persons)
    sums = np.bincount(persons[persons >= 0], whole[persons >= 0])
    assert set(sums) == {float(ONE)}
    assert not whole[persons == NOBODY].any()
    assert (ordinary(persons[persons != 7]) == whole[persons != 7]).all()
    assert ranks(np.array([3, 3, 1, 3, 1])).tolist() == [0, 1, 0, 2, 1]


def gated(**how: Any) -> Dataset:
    X = np.arange(12.0).reshape(6, 2) / 12
    return Dataset.clip(X, [0, 1, 0, 1, 1, 0], (0, 1), **how)


def test_rows_of_one_person_share_its_weight():
    data = gated(groups=["a", "b", "a", "a", "c", "b"])
    assert (data.unit, data.weighting, data.n_persons, data.total_weight) == (
        "person",
        "unit",
        3,
        3,
    )
    assert data.weights is not None
    np.testing.assert_allclose(data.weights, [1 / 3, 1 / 2, 1 / 3, 1 / 3, 1, 1 / 2], atol=2**-30)
    assert (data.weights * ONE % 1 == 0).all()


def test_sample_weights_are_clipped_and_rounded_down():
    how = {"sample_weight": [0.5, 2, -1, np.nan, 1, 1 / 3], "invalid": "replace"}
    data = gated(**how)
    assert (data.unit, data.weighting, data.n_persons) == ("row", "sub_unit", 6)
    assert data.weights is not None
    assert data.weights.tolist() == [0.5, 1, 0, 0, 1, np.floor(ONE / 3) / ONE]
    with pytest.raises(ValueError, match="or negative"):
        gated(**how | {"invalid": "raise"})
    both = gated(**how, groups=[1, 1, 2, 2, 3, 4])
    assert both.weights is not None
    assert both.weights.tolist() == [0.25, 0.5, 0, 0, 1, np.floor(ONE / 3) / ONE]


def test_class_weights_are_a_public_table_divided_by_its_maximum():
    data = gated(class_weight={0: 1, 1: 4})
    assert data.weights is not None
    assert data.weighting == "sub_unit"
    assert data.weights.tolist() == [0.25, 1, 0.25, 1, 1, 0.25]
    for wrong in ({0: 1, 2: 1}, {0: -1}, {0: np.inf}, [1, 2, 3]):
        with pytest.raises(ValueError, match="class_weight"):
            gated(class_weight=wrong)


def test_views_carry_weights_and_persons_along():
    data = gated(groups=["a", "b", "a", "a", "c", "b"], sample_weight=[1, 1, 0.5, 1, 0, 1])
    for view in (data.features([1]), data.tightened(data.bounds), data.declared_units()):
        assert view.weights is data.weights
        assert view.persons is data.persons
        assert (view.unit, view.weighting) == ("person", "sub_unit")
    some = data.rows(np.array([True, False, True, False, True, False]))
    assert data.weights is not None
    assert some.weights is not None
    assert some.weights.tolist() == data.weights[::2].tolist()
    assert some.n_persons == 2


def test_first_rows_keeps_each_persons_own_first_rows():
    groups = ["a", "b", "a", "a", "c", "b"]
    data = gated(groups=groups, sample_weight=[1, 1, 0.5, 1, 0, 1]).first_rows(2)
    assert data.weights is not None
    assert data.n_records == 5  # a's third row is gone
    np.testing.assert_allclose(data.weights, [1 / 2, 1 / 2, 1 / 4, 0, 1 / 2], atol=2**-28)
    one = gated(groups=groups).first_rows(1)
    assert one.weights is not None
    assert one.weights.tolist() == [1, 1, 1]
    assert gated().first_rows(1).n_records == 6


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_sums_weigh_and_margins_do_not(layout):
    random = np.random.default_rng(1)
    X, r = random.uniform(size=(30, 4)), random.normal(size=(30, 2))
    y, groups = random.integers(0, 2, 30), random.integers(0, 9, 30)
    weight = random.uniform(size=30)
    data = Dataset.clip(layout(X), y, (0, 1), groups=groups, sample_weight=weight)
    plain = Dataset.clip(layout(X), y, (0, 1))
    w = weight / np.bincount(groups)[groups]
    assert (data.matvec(np.ones(5)) == plain.matvec(np.ones(5))).all()
    np.testing.assert_allclose(data.rmatvec(r), plain.rmatvec(w[:, None] * r), atol=1e-7)
    one_by_one = [plain.rows(np.arange(30) == i) for i in range(30)]
    parts = [one.dyadic_counts(3) for one in one_by_one]
    np.testing.assert_allclose(data.dyadic_counts(3), np.tensordot(w, parts, 1), atol=1e-6)
    np.testing.assert_allclose(data.total_weight, w.sum(), atol=1e-7)


def test_a_person_on_ten_levels_moves_a_histogram_by_its_share():
    # Rounded to whole numbers of records, ten rows of a person would move counts by 5.48.
    X = np.full((40, 1), 0.9)
    X[:10, 0] = 2.0 ** -np.arange(10)
    groups = np.r_[np.zeros(10), np.arange(1, 31)]
    with_person = Dataset.clip(X, np.zeros(40), (0, 1), groups=groups)
    without = Dataset.clip(X[10:], np.zeros(30), (0, 1), groups=groups[10:])
    change = with_person.dyadic_counts(10) - without.dyadic_counts(10)
    assert np.linalg.norm(change) <= np.sqrt(3)
    assert np.linalg.norm(change[0, 0]) == pytest.approx(np.sqrt(10) / 10, abs=1e-6)


def test_one_value_per_person_is_drawn():
    data = gated(groups=["a", "b", "a", "a", "", "b"], invalid="replace")
    asked = []

    def draw(n: int) -> np.ndarray:
        asked.append(n)
        return np.arange(n) + 10

    values = data.per_person(draw)
    assert asked == [2]
    assert values[[0, 2, 3]].tolist() == [values[0]] * 3
    assert values[1] == values[5] != values[0]
    assert gated(groups=[None] * 6, invalid="replace").per_person(draw).shape == (6,)
    assert gated().per_person(draw).tolist() == list(range(10, 16))


def test_no_message_quotes_an_id_or_a_number_of_rows():
    for groups in (["secret-7", None, 1, 2, 3, 4], ["secret-7"] * 5, [["secret-7"]] * 6):
        with pytest.raises(ValueError, match=r"groups|Reshape") as caught:
            gated(groups=groups)
        assert "secret" not in str(caught.value)
        assert not any(digit in str(caught.value) for digit in "56")

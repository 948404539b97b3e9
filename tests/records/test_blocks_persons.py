"""Persons whose rows are in several blocks count once, as in memory."""

import numpy as np
import pytest

from sparsedp import PrivateSearchCV, RecordBlocks, SparseLogisticRegression
from sparsedp.data.blocks.persons import digests
from sparsedp.data.dataset import Dataset
from sparsedp.solvers import NoisyGD

RANDOM = np.random.default_rng(5)
N = 60
X = RANDOM.uniform(-1, 1, size=(N, 3))
Y = RANDOM.integers(0, 2, N)
WEIGHT = RANDOM.uniform(size=N)
WHO = RANDOM.integers(0, 15, N)
MIXED = np.array([(int, float, str, lambda i: f"{i}.0")[i % 4](who) for i, who in enumerate(WHO)])
MIXED = np.array([each if i % 3 else WHO[i] for i, each in enumerate(MIXED)], dtype=object)


def blocked(groups, weight=None, rows=7, **how):
    records = RecordBlocks.from_arrays(
        X, Y, groups=groups, sample_weight=weight, rows_per_block=rows
    )
    return records.clip(1.0, **how)


def same_persons(one: np.ndarray, other: np.ndarray) -> bool:
    return bool(((one[:, None] == one) == (other[:, None] == other)).all())


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["unit", "sub_unit"])
@pytest.mark.parametrize("rows", [1, 7, 100])
@pytest.mark.parametrize("groups", [WHO, MIXED], ids=["whole", "mixed"])
def test_blocks_have_the_weights_of_records_in_memory(groups, weight, rows):
    data, whole = (
        blocked(groups, weight, rows),
        Dataset.clip(X, Y, 1.0, groups=WHO, sample_weight=weight),
    )
    assert (data.unit, data.weighting) == (whole.unit, whole.weighting)
    assert (data.n_persons, data.total_weight) == (whole.n_persons, whole.total_weight)
    assert data.weights is not None
    assert data.weights.tobytes() == np.asarray(whole.weights).tobytes()
    assert same_persons(np.asarray(data.persons), np.asarray(whole.persons))
    r = RANDOM.normal(size=N)
    np.testing.assert_allclose(data.rmatvec(r), whole.rmatvec(r), atol=1e-12)
    np.testing.assert_allclose(data.dyadic_counts(3), whole.dyadic_counts(3), atol=1e-9)
    few, fewer = data.first_rows(2), whole.first_rows(2)
    assert np.asarray(few.weights).tobytes() == np.asarray(fewer.weights).tobytes()
    coins = data.per_person(lambda n: np.arange(n))
    assert same_persons(coins, np.asarray(whole.persons))


def test_rows_without_an_id_count_nothing_or_raise():
    groups = np.array([None if i % 9 == 0 else who for i, who in enumerate(WHO)], dtype=object)
    data = blocked(groups, invalid="replace")
    whole = Dataset.clip(X, Y, 1.0, groups=groups, invalid="replace")
    assert np.asarray(data.weights).tobytes() == np.asarray(whole.weights).tobytes()
    assert (data.n_persons, data.total_weight) == (whole.n_persons, whole.total_weight)
    with pytest.raises(ValueError, match="ids that are missing"):
        blocked(groups)


def test_weights_alone_go_by_block():
    data = blocked(None, WEIGHT)
    whole = Dataset.clip(X, Y, 1.0, sample_weight=WEIGHT)
    assert (data.unit, data.weighting, data.persons) == ("row", "sub_unit", None)
    assert np.asarray(data.weights).tobytes() == np.asarray(whole.weights).tobytes()


def test_digests_are_of_16_bytes_and_mean_nothing_without_the_key():
    ids = ["a", 1, "1", b"a", None, 2.5]
    one, other = digests(ids, b"k" * 16, "replace"), digests(ids, b"q" * 16, "replace")
    assert one.dtype.itemsize == 16
    assert (one == other).tolist() == [False, False, False, False, True, False]
    assert one[0] == one[3] != one[1] == one[2]


def test_a_fit_in_blocks_is_the_fit_in_memory():
    how = {"epsilon": 1.0, "delta": 1e-6, "bounds": 1.0, "classes": (0, 1), "random_state": 0}
    model = SparseLogisticRegression(solver=NoisyGD(n_steps=3), **how)
    whole = model.fit(X, Y, groups=WHO, sample_weight=WEIGHT).coef_.copy()
    records = RecordBlocks.from_arrays(X, Y, groups=WHO, sample_weight=WEIGHT, rows_per_block=100)
    model.fit(records)
    assert model.privacy_.unit == "person"
    assert (model.coef_ == whole).all()
    with pytest.raises(ValueError, match="hold targets, ids"):
        model.fit(records, groups=WHO)


def test_coins_of_a_seed_are_those_of_records_in_memory():
    # Codes that followed the secret key of the digests would hand out other coins each time.
    for groups in (np.arange(N), [f"p{i % 15}" for i in range(N)]):
        whole = Dataset.clip(X, Y, 1.0, groups=groups).per_person(np.arange)
        for rows in (1, 7, 100):
            assert (blocked(np.asarray(groups), rows=rows).per_person(np.arange) == whole).all()


@pytest.mark.parametrize("groups", [None, WHO])
def test_a_search_in_blocks_scores(groups):
    grid = {"solver": [NoisyGD(n_steps=2), NoisyGD(n_steps=3)]}
    model = SparseLogisticRegression(bounds=1.0, classes=(0, 1))
    search = PrivateSearchCV(model, grid, epsilon=3.0, delta=1e-6, random_state=0)
    records = RecordBlocks.from_arrays(X, Y, groups=groups, rows_per_block=7)
    score = search.fit(records).best_score_
    assert search.privacy_.unit == ("row" if groups is None else "person")
    ids = None if groups is None else [f"p{who}" for who in groups]
    assert search.fit(X, Y, groups=ids).best_score_ == pytest.approx(score, abs=1e-9)


def test_exact_pursuit_in_blocks():
    model = SparseLogisticRegression(epsilon=np.inf, delta=1e-6, bounds=1.0, classes=(0, 1))
    whole = model.fit(X, Y, groups=WHO).coef_.copy()
    model.fit(RecordBlocks.from_arrays(X, Y, groups=WHO, rows_per_block=7))
    np.testing.assert_allclose(model.coef_, whole, atol=1e-6)

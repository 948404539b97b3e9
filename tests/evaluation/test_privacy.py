"""What crosses the door in an evaluation: nothing else, no further than declared, and paid for.

Nothing here is statistical but where it says so.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from sparsedp import Bounds, BudgetExceeded, Ledger, SparseLogisticRegression, evaluate
from sparsedp.audit.likelihood import privacy_loss
from sparsedp.audit.replay import largest_movements
from sparsedp.evaluation import private
from sparsedp.evaluation.multiclass import Multiclass
from sparsedp.evaluation.regression import Regression
from sparsedp.mechanisms.recording import recorded
from sparsedp.mechanisms.scripted import Scripted
from sparsedp.privacy import Budget, Schedule, Tabulate
from tests.privacy.test_every_fit import Overruled
from tests.whole import whole

NEIGHBORS = ("add_remove", "replace_one")
TASKS: dict[str, dict[str, Any]] = {
    "binary": {"classes": ["no", "yes"]},
    "margins": {"classes": ["no", "yes"], "response_method": "decision_function"},
    "labels": {"classes": ["no", "yes"], "response_method": "predict"},
    "several": {"classes": ["a", "b", "c"]},
    "numbers": {"target_bounds": (-2.0, 5.0)},
}


@dataclass(frozen=True)
class Rows:
    """Predictions, truth and persons of some rows."""

    predicted: list
    y: list
    groups: list

    def plus(self, other: "Rows") -> "Rows":
        return Rows(self.predicted + other.predicted, self.y + other.y, self.groups + other.groups)


def random_rows(task: str, n: int, seed: int, persons: bool = False) -> Rows:
    random = np.random.default_rng(seed)
    how = TASKS[task]
    classes = how.get("classes", [])
    if task == "numbers":
        y = random.uniform(-2, 5, n).tolist()
        predicted = random.uniform(-2, 5, n).tolist()
    else:
        y = random.choice(classes, n).tolist()
        predicted = {
            "binary": random.uniform(0, 1, n),
            "margins": random.normal(0, 3, n),
            "labels": random.choice(classes, n),
            "several": random.dirichlet([1, 1, 1], n),
        }[task].tolist()
    # Ids are shared by the rows of a person, up to five of them.
    groups = np.repeat(np.arange(n), random.integers(1, 6, n))[:n] if persons else np.arange(n)
    return Rows(predicted, y, groups.tolist())


def extreme(task: str, corner: int, m: int, name: str) -> Rows:
    """A person of m rows far from all others; corners are as far from each other as can be."""
    how = TASKS[task]
    ends = {
        "binary": [0.0, 1.0, 0.501, 0.499],
        "margins": [-1e9, 1e9, 0.001, -0.001],
        "labels": ["no", "yes", "no", "yes"],
        "several": [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.34, 0.33, 0.33]],
        "numbers": [-2.0, 5.0, 1.5, 3.25],
    }[task]
    truths = how.get("classes", [-2.0, 5.0, 1.5, 3.25])
    predicted = [ends[(corner + i * (corner % 3)) % 4] for i in range(m)]
    y = [truths[(corner // 2 + i * (corner % 2)) % len(truths)] for i in range(m)]
    return Rows(predicted, y, [name] * m)


def ask(rows: Rows, task: str, persons: bool, **how):
    groups = [str(each) for each in rows.groups] if persons else None
    predicted = np.array(rows.predicted).reshape(-1, 3) if task == "several" else rows.predicted
    how = {"epsilon": 1.0, "random_state": 0, "invalid": "replace", **TASKS[task], **how}
    return evaluate(predicted, y=rows.y, groups=groups, **how)


def queries_of(rows: Rows, task: str, persons: bool, monkeypatch, **how):
    """An evaluation, and what crossed its door."""
    kept = []
    honest = private.door

    class Recorded:
        def __init__(self, *arguments):
            self.door = honest(*arguments)

        def __enter__(self):
            curator, queries = recorded(self.door.__enter__())
            kept.append(queries)
            return curator

        def __exit__(self, *error):
            return self.door.__exit__(*error)

    with monkeypatch.context() as patch:
        patch.setattr(private, "door", Recorded)
        found = ask(rows, task, persons, **how)
    (queries,) = kept
    return found, queries


def movements(task: str, neighbors: str, persons: bool, monkeypatch, **how) -> float:
    """Largest movement over declared, between neighbors at corners of the domain."""
    base, worst = random_rows(task, 30, 3, persons), 0.0
    for corner in range(4):
        for m in (1, 2, 5) if persons else (1,):
            one = base.plus(extreme(task, corner, m, "me"))
            other = base
            if neighbors == "replace_one":
                other = base.plus(extreme(task, (corner + 1) % 4, 1 + m % 3 * persons, "me"))
            pair = [
                queries_of(rows, task, persons, monkeypatch, neighbors=neighbors, **how)[1]
                for rows in (one, other)
            ]
            worst = max(worst, largest_movements(pair[0], pair[1], neighbors)["table"])
    return worst


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("persons", [False, True])
def test_no_table_moves_further_than_declared(task, neighbors, persons, monkeypatch):
    worst = movements(task, neighbors, persons, monkeypatch)
    assert worst <= 1
    # Half the declared distance would not do; polynomials share cells, so they go less far.
    assert worst > (0.8 if task == "numbers" else 0.99)


def test_weights_below_one_go_no_further(monkeypatch):
    base = random_rows("binary", 30, 3)
    for light in (0.0, 0.5, 1.0):
        one, other = (base.plus(extreme("binary", corner, 1, "me")) for corner in (0, 1))
        weights = [1.0] * 30 + [light]
        how = {"neighbors": "replace_one"}
        pair = [
            queries_of(rows, "binary", False, monkeypatch, sample_weight=weight, **how)[1]
            for rows, weight in ((one, weights), (other, [1.0] * 31))
        ]
        moved = largest_movements(pair[0], pair[1], "replace_one")["table"]
        assert moved == pytest.approx((light + 1) / 2)


@pytest.mark.parametrize("task", ["several", "numbers"])
def test_one_table_per_class_or_a_count_too_many_is_seen(task, monkeypatch):
    """Planted: a record in every one-vs-rest table, and sums that are not a point of a simplex."""
    if task == "several":
        honest = Multiclass.counts

        def counts(self, data):
            table = honest(self, data)
            for k in range(self.n_classes):  # one against the rest, once more for each class
                table[k, k] += honest(self, data).sum(axis=(0, 1))
            return table

        monkeypatch.setattr(Multiclass, "counts", counts)
    else:
        honest = Regression.counts
        monkeypatch.setattr(Regression, "counts", lambda self, data: 2 * honest(self, data))
    assert movements(task, "add_remove", False, monkeypatch) > 1.5


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_an_evaluation_depends_on_records_only_through_its_table(task, neighbors, monkeypatch):
    sizes = (40, 40) if neighbors == "replace_one" else (0, 1, 40, 57)
    first, queries = queries_of(
        random_rows(task, 40, 1), task, False, monkeypatch, neighbors=neighbors, epsilon=30.0
    )
    honest = private.door
    for seed, n in enumerate(sizes, 5):
        script = Scripted([query.answer for query in queries])

        class Replayed:
            def __init__(self, *arguments, script=script):
                self.door, self.script = honest(*arguments), script

            def __enter__(self):
                curator = self.door.__enter__()
                return replace(curator, answers=Overruled(curator.answers, self.script))

            def __exit__(self, *error):
                return self.door.__exit__(*error)

        with monkeypatch.context() as patch:
            patch.setattr(private, "door", Replayed)
            rows = random_rows(task, n, seed)
            again = ask(rows, task, False, neighbors=neighbors, epsilon=30.0)
        assert whole(again) == whole(first)
        assert repr(again) == repr(first)
        script.close()


HOSTILE = [None, float("nan"), "secret diagnosis", float("inf"), 1e308, -1.0, b"x", [1, 2], 10**400]


@pytest.mark.parametrize("task", ["binary", "margins", "labels", "numbers"])
@pytest.mark.parametrize("cell", HOSTILE, ids=lambda cell: str(cell)[:12])
def test_no_cell_changes_what_becomes_of_others(task, cell):
    rows = random_rows(task, 25, 8)
    without = ask(rows, task, False, epsilon=float("inf")).table
    for predicted, truth in ((cell, rows.y[0]), (rows.predicted[0], cell)):
        more = rows.plus(Rows([predicted], [truth], [99]))
        added = ask(more, task, False, epsilon=float("inf")).table - without
        assert added.min() >= 0
        assert 1 - 1e-6 < added.sum() <= 1


@pytest.mark.parametrize("kind", ["raise", "replace"])
def test_messages_quote_nothing(kind):
    class Strange:
        def predict(self, X):
            raise RuntimeError("cannot use 'secret diagnosis' of 4711 records")

    marks = ("secret", "4711")
    for call in (
        lambda: evaluate(Strange(), [[1]], [0], classes=[0, 1], epsilon=1.0, invalid=kind),
        lambda: evaluate(["secret"] * 4711, y=[0] * 4711, classes=[0, 1], epsilon=1.0),
        lambda: evaluate([0.5] * 4711, y=["secret"] * 4711, classes=[0, 1], epsilon=1.0),
        lambda: evaluate([0.5] * 4711, y=[0], classes=[0, 1], epsilon=1.0, invalid=kind),
        lambda: evaluate(["secret"], y=[0], classes=[0, 1], response_method="predict", epsilon=1.0),
    ):
        with pytest.raises(ValueError) as caught:
            call()
        chain = [caught.value, caught.value.__cause__, caught.value.__context__]
        assert not any(mark in str(error) for mark in marks for error in chain)


def test_predictions_of_our_models_do_not_depend_on_other_records():
    random = np.random.default_rng(0)
    X = random.normal(size=(500, 40))
    for classes in ([0, 1], [0, 1, 2]):
        y = random.choice(classes, 500)
        how = {"epsilon": 5.0, "delta": 1e-6, "classes": classes, "random_state": 0}
        model = SparseLogisticRegression(bounds=Bounds(-3, 3), n_nonzero=30, **how).fit(X, y)
        margins = model.decision_function(X)
        for start, stop in ((0, 1), (3, 4), (1, 8), (7, 500), (250, 267)):
            part = model.decision_function(X[start:stop])
            assert part.tobytes() == margins[start:stop].tobytes()


def test_a_charge_comes_before_noise_and_is_what_the_record_says():
    ledger = Ledger(epsilon=1.0, delta=1e-6)
    rows = random_rows("binary", 50, 1)
    found = ask(rows, "binary", False, ledger=ledger, random_state=None, epsilon=0.4, delta=1e-7)
    (charge,) = ledger.history()
    assert (charge.epsilon, charge.delta) == (0.4, 0.0)
    assert charge.what == "scores of a column of predictions"
    assert found.privacy.ledger["line"] == 1
    assert not ledger.pending()
    assert found.privacy.events[0]["epsilon"] == 0.4
    seeded = np.random.default_rng(5)
    state = str(seeded.bit_generator.state)
    with pytest.raises(BudgetExceeded):
        ask(rows, "binary", False, ledger=ledger, epsilon=0.7)
    assert len(ledger.history()) == 1
    with pytest.raises(ValueError, match="cannot draw from a ledger"):
        ask(rows, "binary", False, ledger=ledger, epsilon=float("inf"), random_state=seeded)
    assert str(seeded.bit_generator.state) == state


def test_a_stopped_evaluation_stays_charged(monkeypatch):
    ledger = Ledger(epsilon=1.0, delta=1e-6)

    def counts(self, data):
        raise MemoryError("4711 records")

    monkeypatch.setattr(Regression, "counts", counts)
    with pytest.raises(MemoryError, match="already charged") as caught:
        ask(random_rows("numbers", 50, 1), "numbers", False, ledger=ledger, epsilon=0.4)
    assert "4711" not in str(caught.value)
    assert [charge.epsilon for charge in ledger.pending()] == [0.4]


def test_the_number_of_records_is_nowhere():
    """Under either relation; the digits of noisy cells are those of seed 0."""
    model = LogisticRegression().fit(np.array([[-1.0], [1.0]]), [0, 1])
    for neighbors in NEIGHBORS:
        X = np.zeros((7919, 1))
        found = evaluate(
            model, X, np.zeros(7919), epsilon=0.05, neighbors=neighbors, random_state=0
        )
        assert "7919" not in repr(found) + str(found.to_dict()) + repr(found.privacy)


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_the_exact_loss_of_a_table_is_at_most_epsilon(neighbors, monkeypatch):
    epsilon, losses = 0.7, []
    for task in ("binary", "numbers"):
        base = random_rows(task, 20, 2)
        one, other = (base.plus(extreme(task, corner, 1, "me")) for corner in (0, 1))
        if neighbors == "add_remove":
            other = base
        how = {"neighbors": neighbors, "epsilon": epsilon}
        _, queries = queries_of(one, task, False, monkeypatch, **how)
        _, again = queries_of(other, task, False, monkeypatch, **how)
        cells = queries[0].values.size
        for answer in (queries[0].values, again[0].values, queries[0].answer):
            asked, its = (replace(query[0], answer=answer) for query in (queries, again))
            budget = Budget(
                Schedule((Tabulate(cells),)), epsilon=epsilon, delta=0, neighbors=neighbors
            )
            losses.append(privacy_loss([asked], [its], budget, neighbors))
    assert max(map(abs, losses)) <= epsilon * (1 + 1e-12)
    assert max(map(abs, losses)) > 0.99 * epsilon


def test_whole_units_of_a_row_never_exceed_its_weight():
    """Weights of every size, targets and errors of every kind: floors of parts of a whole."""
    from sparsedp.evaluation.regression import divided

    random = np.random.default_rng(4)
    for _ in range(200):
        y, p = random.choice([-1, 1, 0, 1 / 3, random.uniform(-1, 1)], 2)
        k = int(random.integers(0, 2 ** random.integers(1, 31)))
        added = divided(np.array([y]), np.array([p]), np.array([k]))
        assert added.min() >= 0
        assert k - 25 <= added.sum() <= k
    # The polynomials themselves, in exact arithmetic, come to one.
    t = Fraction(1, 3)
    binomial = (1, 4, 6, 4, 1)
    assert sum(c * t**j * (1 - t) ** (4 - j) for j, c in enumerate(binomial)) == 1

"""Pursuit beyond the common tests: shapes, rows of bounded norm, public starts, planted bugs.

Nothing here is statistical: answers are recorded once and replayed on neighbors.
"""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from sparsedp.audit.replay import largest_movements
from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.losses import Huber, Logistic, Multinomial, Poisson, Squared
from sparsedp.mechanisms import recording
from sparsedp.mechanisms.scripted import ControlFlowChanged, Scripted, ScriptedCurator
from sparsedp.privacy import PublicFacts, Sensitivity
from sparsedp.solvers import Pursuit
from sparsedp.solvers.pursuit import moments as pursuit_moments
from sparsedp.solvers.pursuit import plan as pursuit_plan
from sparsedp.solvers.pursuit import records as pursuit_records
from sparsedp.solvers.pursuit import step as pursuit_step
from sparsedp.solvers.pursuit.columns import gram as pursuit_gram
from sparsedp.solvers.pursuit.columns.gram import block_gram, row_gram
from sparsedp.solvers.pursuit.targets import labels as pursuit_labels
from tests.solved import recorded
from tests.whole import whole

D, K = 5, 3
LOSSES = {
    "logistic": Logistic(),
    "squared": Squared(),
    "multinomial": Multinomial(K),
    "huber": Huber(threshold=0.4),
    "poisson": Poisson(limit=4.0),
}
NEIGHBORS = ("add_remove", "replace_one")
LAYOUTS = ("dense", "sparse", "sparse")


class Setting:
    """Tables of one shape, and the facts that are public about them."""

    def __init__(
        self,
        loss,
        neighbors,
        *,
        row_norm=None,
        intercept=True,
        start=None,
        k=3,
        binary=None,
        shapes="linear",
    ):
        self.loss, self.neighbors, self.row_norm = loss, neighbors, row_norm
        self.intercept, self.start, self.k, self.binary = intercept, start, k, binary
        self.shapes = shapes

    def dataset(self, X, y, layout):
        bounds = Bounds(
            lower=[-1, 0, -2, -1, -5.0],
            upper=[1, 1, 2, 3, 5.0],
            row_norm=self.row_norm,
            binary=self.binary,
        )
        X = X if layout == "dense" else sparse.csc_array(X)
        classes = LOSSES[self.loss].n_classes
        if classes is None:
            return Dataset.clip(X, y, bounds, target_bounds=(-1, 3), intercept=self.intercept)
        return Dataset.clip(X, y, bounds, classes=range(classes), intercept=self.intercept)

    def public(self, n):
        n_outputs = LOSSES[self.loss].n_outputs
        start = None
        if self.start is not None:
            start = np.zeros((D + self.intercept, n_outputs))
            start[list(self.start)] = np.linspace(-2, 2, n_outputs) if n_outputs > 1 else 1.5
            start = start[:, 0] if n_outputs == 1 else start
        return PublicFacts(
            n_features=D,
            n_nonzero=self.k,
            n_outputs=n_outputs,
            intercept=self.intercept,
            neighbors=self.neighbors,
            n_records=n if self.neighbors == "replace_one" else None,
            row_norm=self.row_norm,
            initial_weights=start,
            shapes=self.shapes,
        )

    def table(self, n, seed):
        random = np.random.default_rng(seed)
        X = 2 * random.normal(size=(n, D)) * (random.random((n, D)) < 0.6)
        classes = LOSSES[self.loss].n_classes
        if classes is None:
            return X, random.uniform(-2, 4, size=n)
        return X, random.integers(0, classes, size=n)

    def records(self, seed):
        """Corners, single features, and two that are in all histograms, at other levels."""
        random = np.random.default_rng(seed)
        rows = [np.array([0.5, 0.75, 1.0, 2.0, 2.5]), np.array([-0.8, 0.1, -1.6, -0.6, -4.0])]
        rows += [random.choice([-9.0, 9.0], size=D) for _ in range(3)]
        rows += [9 * np.eye(D)[4], np.zeros(D)]
        classes = LOSSES[self.loss].n_classes
        targets = (-9.0, 9.0) if classes is None else (0, classes - 1)
        return list(itertools.product(rows, targets))

    def recorded(self, X, y, epsilon, seed, layout="dense"):
        data, public = self.dataset(X, y, layout), self.public(len(y))
        how = {"epsilon": epsilon, "delta": 1e-3, "seed": seed}
        solution, queries, _ = recorded(Pursuit(), data, LOSSES[self.loss], public, **how)
        return solution, queries

    def replayed(self, X, y, queries, layout="dense"):
        script = Scripted([query.answer for query in queries])
        curator, asked = recording.recorded(ScriptedCurator(self.public(len(y)), script))
        solution = Pursuit().solve(self.dataset(X, y, layout), LOSSES[self.loss], curator)
        assert not script.answers
        return solution, asked

    def movements(self, n=30, epsilon=3.0, seed=1, *, bends=False, every=1):
        """Largest movement over declared sensitivity for each query of the fit, over neighbors.

        ``bends`` says whether the model is expected to, and ``every`` which of them are tried.
        """
        X, y = self.table(n, seed)
        records = self.records(seed)
        base = (np.vstack([X, records[0][0]]), np.append(y, records[0][1]))
        if self.neighbors == "add_remove":
            base = X, y
        # Layouts are public: what is dropped from a public model counts as zero in sparse records.
        fits = {layout: self.recorded(*base, epsilon, seed, layout) for layout in set(LAYOUTS)}
        worst = np.zeros(len(fits["dense"][1]))
        for (x, target), layout in zip(records[::every], itertools.cycle(LAYOUTS), strict=False):
            solution, queries = fits[layout]
            assert bool(solution.bends) is bends
            other = np.vstack([X, x]), np.append(y, target)
            again, moved = self.replayed(*other, queries, layout)
            assert whole(again) == whole(solution)
            for i, pair in enumerate(zip(queries, moved, strict=True)):
                ratios = largest_movements([pair[0]], [pair[1]], self.neighbors)
                worst[i] = max(worst[i], *ratios.values())
        return worst


SETTINGS = [
    {},
    {"row_norm": 0.5},
    {"row_norm": 2.0},
    {"intercept": False},
    {"intercept": False, "row_norm": 0.5},
    {"start": (0, 3)},
    {"start": (0, 1, 2, 4), "row_norm": 0.5},
    {"k": 5},
    {"k": 1},
    {"binary": (1, 4)},
    {"binary": True},
    {"binary": True, "row_norm": 30.0},
]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("changes", SETTINGS, ids=str)
@pytest.mark.usefixtures("chosen")
def test_no_query_moves_more_than_declared(loss, neighbors, changes):
    setting = Setting(loss, neighbors, **changes)
    for n, epsilon, seed, every in ((0, 1.0, 1, 3), (30, 1.0, 2, 3), (400, 30.0, 3, 1)):
        worst = setting.movements(n, epsilon, seed, every=every)
        assert worst.max() <= 1 + 1e-9
    assert worst.max() > 0.9


BENT = [{"shapes": "additive"}, {"shapes": "auto", "binary": (1, 4), "k": 1}]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("changes", BENT, ids=str)
@pytest.mark.usefixtures("chosen")
def test_no_query_moves_more_than_declared_where_features_bend(loss, neighbors, changes):
    worst = Setting(loss, neighbors, **changes).movements(400, 100.0, 3, bends=True)
    assert 0.9 < worst.max() <= 1 + 1e-9


TOGETHER = [{}, {"intercept": False}, {"binary": (1, 4)}, {"shapes": "auto"}]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("changes", TOGETHER, ids=str)
def test_no_query_moves_more_than_declared_where_all_features_are_used(loss, neighbors, changes):
    setting, bends = Setting(loss, neighbors, k=D, **changes), "shapes" in changes
    if not changes:
        assert setting.movements(0, 1.0, 1).max() <= 1 + 1e-9
    assert 0.9 < setting.movements(400, 100.0, 3, bends=bends).max() <= 1 + 1e-9


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.usefixtures("chosen")
def test_most_queries_move_by_more_than_half_of_what_is_declared(loss):
    worst = Setting(loss, "add_remove").movements(400, 30.0, 3)
    assert np.median(worst[worst > 0]) > 0.5  # questions about the noise level do not move


@pytest.mark.usefixtures("chosen")
def test_schedule_follows_from_public_facts():
    def names(**changes):
        return [
            r.name
            for r in Pursuit()
            .schedule(Setting("logistic", "add_remove", **changes).public(9))
            .requests
        ]

    assert names() == ["features", "moments"]
    assert names(row_norm=0.5) == ["moments"]
    assert names(row_norm=1e6) == ["features", "moments"]
    wide = replace(Setting("logistic", "add_remove", row_norm=3.0).public(9), half_width=9.0)
    assert [r.name for r in Pursuit().schedule(wide).requests] == ["moments"]
    assert names(row_norm=3.0) == ["features", "moments"]
    assert names(start=(0, 1)) == ["features", "moments"]
    assert names(start=(0, 1, 2)) == ["features", "moments"]
    assert names(shapes="additive") == ["features", "moments"]
    assert names(k=D, start=(0, 1)) == ["features", "moments"]
    for changes in ({"row_norm": 3.0}, {"intercept": False}, {"start": (0, 1)}):
        with pytest.raises(ValueError, match="shapes='additive' needs an intercept"):
            names(shapes="additive", **changes)
        names(shapes="auto", **changes)


def test_nothing_is_chosen_where_all_features_are_used():
    public = Setting("logistic", "add_remove", k=D).public(9)
    assert [request.name for request in Pursuit().schedule(public).requests] == ["moments"]


# Planted bugs -------------------------------------------------------------------------------------


def test_exact_number_of_records_in_the_gram_matrix_is_seen(monkeypatch):
    honest = pursuit_step.ActiveSet.__init__

    def bug(self, data, *rest):
        honest(self, data, *rest)
        self._gram[0, 0] = data.n_records

    monkeypatch.setattr(pursuit_step.ActiveSet, "__init__", bug)
    with pytest.raises((ControlFlowChanged, AssertionError)):
        Setting("logistic", "add_remove").movements()


def test_exact_number_of_records_in_the_step_is_seen(monkeypatch):
    honest = pursuit_labels.TwoClassResponse.__init__

    def bug(self, loss, data, *rest):
        honest(self, loss, data, *rest)
        self.n_records = data.n_records

    monkeypatch.setattr(pursuit_labels.TwoClassResponse, "__init__", bug)
    with pytest.raises((ControlFlowChanged, AssertionError)):
        Setting("logistic", "add_remove").movements()


@pytest.mark.parametrize("loss", LOSSES)
def test_clipping_at_more_than_the_declared_norm_is_seen(monkeypatch, loss):
    honest = pursuit_records.shrink
    monkeypatch.setattr(pursuit_records, "shrink", lambda r, n, norm: honest(r, n, 1.5 * norm))
    assert Setting(loss, "add_remove").movements(400, 1.0, 3).max() > 1.2


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.usefixtures("chosen")
def test_half_the_range_of_the_scores_is_seen(monkeypatch, neighbors):
    honest = pursuit_step.ActiveSet.selection_gradient

    def bug(self, *arguments):
        gradient, norm = honest(self, *arguments)
        return gradient, norm / 2

    monkeypatch.setattr(pursuit_step.ActiveSet, "selection_gradient", bug)
    assert Setting("logistic", neighbors).movements(400, 30.0, 3).max() > 1.5


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_two_histograms_per_feature_declared_for_three_is_seen(monkeypatch, neighbors):
    honest = pursuit_moments.Moments.release

    def bug(self, values, sensitivity, share):
        if np.ndim(values) == 3:
            sensitivity = Sensitivity(
                add_remove=sensitivity.add_remove * np.sqrt(2 / 3),
                replace_one=sensitivity.replace_one * np.sqrt(2 / 3),
            )
        return honest(self, values, sensitivity, share)

    monkeypatch.setattr(pursuit_moments.Moments, "release", bug)
    assert Setting("logistic", neighbors).movements(400, 30.0, 3).max() > 1.2


@pytest.mark.parametrize("row_norm", [None, 0.5])
@pytest.mark.usefixtures("chosen")
def test_replaced_records_need_more_noise_in_the_gram_matrix(monkeypatch, row_norm):
    def bug(sensitivity):
        return lambda *sizes: Sensitivity(
            add_remove=sensitivity(*sizes).add_remove, replace_one=sensitivity(*sizes).add_remove
        )

    if row_norm is None:
        monkeypatch.setattr(pursuit_gram, "block_gram", bug(block_gram))
    else:
        monkeypatch.setattr(pursuit_plan, "row_gram", bug(row_gram))
    assert Setting("logistic", "replace_one", row_norm=row_norm).movements(400, 30.0, 3).max() > 1.1


@pytest.mark.parametrize("norm", [0.3, 0.7, 1.0, 3.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_gram_sensitivities_hold_and_are_nearly_attained(norm, intercept):
    """Random search over pairs of records, with a fixed seed; the bounds are theorems."""
    random = np.random.default_rng(0)

    def triangle(z, old):
        products = np.outer(z, z)
        return (
            products[np.triu_indices(len(z))]
            if old == 0
            else np.concatenate(
                [products[:old, old:].ravel(), products[old:, old:][np.triu_indices(len(z) - old)]]
            )
        )

    largest = np.zeros(2)
    declared = row_gram(norm, intercept)
    for _ in range(1500):
        pair = random.normal(size=(2, 3)) ** random.choice([1, 3, 9])
        pair *= norm / np.linalg.norm(pair, axis=1, keepdims=True)
        if random.random() < 0.3:
            pair[1] = -pair[0]
        z = [np.concatenate([[1.0] * intercept, x]) for x in pair]
        one, other = (triangle(v, int(intercept)) for v in z)
        moved = np.linalg.norm(one), np.linalg.norm(one - other)
        largest = np.maximum(largest, moved)
    assert largest[0] <= declared.add_remove * (1 + 1e-9)
    assert largest[1] <= declared.replace_one * (1 + 1e-9)
    assert largest[0] > 0.9 * declared.add_remove
    assert largest[1] > 0.8 * declared.replace_one
    for old, new in itertools.product((0, 1, 2, 3), (1, 2, 3)):
        declared, largest = block_gram(float(old), np.ones(new)), np.zeros(2)
        for _ in range(300):
            z = random.choice([-1.0, 1.0], size=(2, old + new))
            z[1] *= random.random() < 0.9
            if intercept and old:
                z[:, 0] = 1
            one, other = triangle(z[0], old), triangle(z[1], old)
            largest = np.maximum(largest, (np.linalg.norm(one), np.linalg.norm(one - other)))
        assert largest[0] == pytest.approx(declared.add_remove)
        assert 0.7 * declared.replace_one < largest[1] <= declared.replace_one * (1 + 1e-9)

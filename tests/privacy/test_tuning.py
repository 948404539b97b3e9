"""Private search: its price, its law of trials, its one charge, and its result."""

import math

import numpy as np
import pytest
from scipy import stats

from sparsedp import (
    Bounds,
    BudgetExceeded,
    Ledger,
    PrivateSearchCV,
    RecordBlocks,
    SparseLinearRegression,
    SparseLogisticRegression,
)
from sparsedp.data.synthetic import sparse_glm
from sparsedp.estimators.grid import TUNABLE, candidates
from sparsedp.estimators.records import Given
from sparsedp.fit.search.trial import ONE_RECORD, Trial
from sparsedp.mechanisms import KeyStream
from sparsedp.mechanisms.samplers.trials import n_trials
from sparsedp.privacy import Count, Perturb, Schedule, Select, zcdp_rho
from sparsedp.privacy.account.feasibility import TooFewRecords
from sparsedp.privacy.account.repeat import (
    events_at,
    repeated_epsilon,
    single_rho,
    stopping_rate,
    trial_rho,
)
from sparsedp.release import PublishedModel, write_report
from sparsedp.solvers import ADMM, FrankWolfe, Screened, Solution, Sparsifier


@pytest.mark.parametrize(
    ("trials", "distribution", "factor"),
    [
        *((k, "logarithmic", f) for k, f in ((5, 1.61), (10, 1.73), (25, 1.88))),
        (10, "geometric", 2.11),
    ],
)
def test_noise_factors(trials, distribution, factor):
    rho = trial_rho(1.0, 1e-5, float(trials), distribution)
    assert math.sqrt(single_rho(1.0, 1e-5) / rho) == pytest.approx(factor, abs=0.006)
    assert 0.999 <= repeated_epsilon(rho, 1e-5, float(trials), distribution) <= 1.0


@pytest.mark.parametrize("distribution", ["logarithmic", "geometric"])
def test_law_of_the_number_of_trials(distribution):
    # Seed 1; chi-square at false-alarm rate 1e-7.
    stream, gamma = KeyStream.from_seed(1), stopping_rate(6.0, distribution)
    drawn = np.array([n_trials(6.0, distribution, stream) for _ in range(6000)])
    k = np.arange(1, 30)
    law = stats.logser(1 - gamma) if distribution == "logarithmic" else stats.geom(gamma)
    assert law.mean() == pytest.approx(6.0)
    expected = np.append(law.pmf(k), law.sf(k[-1])) * len(drawn)
    found = np.append([(drawn == i).sum() for i in k], (drawn > k[-1]).sum())
    assert stats.chisquare(found, expected).pvalue > 1e-7


def test_schedules_are_calibrated_to_rho():
    schedule = Schedule((Select(7, 2.0), Perturb(1.0, name="a"), Perturb(0.5, name="b")))
    assert zcdp_rho(events_at(schedule, 0.03)) == pytest.approx(0.03)
    with pytest.raises(ValueError, match="cannot be tuned"):
        events_at(Schedule((Count(0.1), Select(3))), 0.03)


def data(task="logistic", n=4000):
    made = sparse_glm(n=n, d=12, n_nonzero=3, task=task, seed=1)
    return made.X, made.y, Bounds.symmetric(float(np.abs(made.X).max()))


GRID = {"solver": [Sparsifier(FrankWolfe(radius=r, n_steps=20)) for r in (0.01, 10.0)]}


@pytest.mark.parametrize("task", ["logistic", "multinomial", "linear"])
def test_finds_the_better_setting_and_charges_once(task):
    X, y, bounds = data(task)
    if task == "linear":
        model = SparseLinearRegression(bounds=bounds, target_bounds=(y.min(), y.max()))
    else:
        model = SparseLogisticRegression(bounds=bounds)
    ledger = Ledger(epsilon=5, delta=1e-3)
    search = PrivateSearchCV(
        model, GRID, epsilon=4.0, delta=1e-5, expected_trials=20, ledger=ledger, random_state=0
    ).fit(X, y)
    assert search.best_params_["solver"].solver.radius == 10.0
    assert [(c.epsilon, c.delta) for c in ledger.history()] == [(4.0, 1e-5)]
    assert search.privacy_.epsilon == 4.0
    assert search.privacy_.events[0]["event"] == "RepeatAndSelect"
    assert search.best_estimator_.privacy_ is search.privacy_
    assert search.predict(X).shape == y.shape
    with pytest.raises(BudgetExceeded):
        search.fit(X, y)


def test_result_can_be_published(tmp_path):
    X, y, bounds = data(n=400)
    estimator = SparseLogisticRegression(bounds=bounds, classes=(0, 1))
    search = PrivateSearchCV(estimator, GRID, epsilon=1, delta=1e-5)
    model = PublishedModel.from_estimator(search.fit(X, y).best_estimator_)
    assert 0.999 <= model.verdict().epsilon <= 1
    page = write_report(model, tmp_path / "report.html").read_text()
    assert "secret number of trials over 2 settings" in page
    assert "PRIVATE as stated" in page


def test_every_record_scores_between_zero_and_one():
    for task in ("logistic", "multinomial", "linear"):
        X, y, bounds = data(task, n=300)
        target = {"target_bounds": (y.min(), y.max())} if task == "linear" else {}
        fit = SparseLinearRegression if task == "linear" else SparseLogisticRegression
        model = fit(bounds=bounds, **target)
        if task != "linear":
            model.set_params(classes=np.unique(y))
        candidate = candidates(model, {}, epsilon=1.0, delta=1e-5)[0]
        problem = candidate.estimator._problem(Given(X, y), candidate.settings)
        for i in range(0, 300, 7):
            scoring = np.zeros(300, dtype=bool)
            scoring[i] = True
            trial = Trial.of(candidate.settings, problem, scoring, 0.01)
            wild = 100 * np.random.default_rng(i).normal(size=trial.plan.public.weights_shape)
            assert 0 <= trial._score(Solution(weights=wild)) <= 1
            wild[i % 5] = np.inf  # zeros of the record then have no margin
            assert 0 <= trial._score(Solution(weights=wild)) <= 1


def test_price_is_known_before_and_printed(capsys):
    X, y, bounds = data(n=400)
    estimator = SparseLogisticRegression(bounds=bounds, classes=(0, 1))
    search = PrivateSearchCV(estimator, GRID, epsilon=1.0, delta=1e-5, verbose=True)
    price = search.price()
    assert price["expected_trials"] == 4
    assert 1.4 < price["noise_factor"] < 1.7
    search.fit(X, y)
    assert "4 trials expected, epsilon=1" in capsys.readouterr().err
    assert search.privacy_.private


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epsilon": None}, "epsilon is required"),
        ({"epsilon": float("inf")}, "finite epsilon"),
        ({"expected_trials": 1}, "larger than 1"),
        ({"distribution": "poisson"}, "distribution must be"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
        ({"epsilon": 1e-9}, "cannot be paid"),
        ({"param_grid": {"solver": [FrankWolfe(calibration="published")]}}, "sound"),
        ({"param_grid": {"solver": [Sparsifier(n_nonzero="count")]}}, "cannot be tuned"),
    ],
)
def test_bad_settings_charge_nothing(settings, message):
    X, y, bounds = data(n=200)
    ledger = Ledger(epsilon=5, delta=1e-3)
    search = PrivateSearchCV(
        SparseLogisticRegression(bounds=bounds),
        **{"param_grid": GRID, "epsilon": 1.0, "delta": 1e-5, "ledger": ledger, **settings},
    )
    with pytest.raises(ValueError, match=message):
        search.fit(X, y)
    assert ledger.history() == []


def test_record_says_how_many_records_a_trial_needs():
    made = sparse_glm(n=120, d=10, n_nonzero=3, seed=0)
    search = PrivateSearchCV(
        SparseLogisticRegression(bounds=Bounds(-3, 3), neighbors="replace_one"),
        {"solver": [FrankWolfe(n_steps=5), FrankWolfe(n_steps=10)]},
        epsilon=0.5,
        delta=1e-5,
        expected_trials=3,
        random_state=0,
    )
    with pytest.warns(TooFewRecords, match="Here are 120") as seen:
        search.fit(made.X, made.y)
    assert seen[0].filename == __file__
    search.set_params(validation_fraction=0.6)
    half = PrivateSearchCV(**search.get_params(deep=False))
    with pytest.warns(TooFewRecords):
        half.fit(made.X, made.y)
    needed = [
        next(int(note.split()[4]) for note in model.privacy_.notes if "be promised" in note)
        for model in (search, half)
    ]
    assert 120 < needed[0] < needed[1]


GUARANTEE = {
    "epsilon": [50.0, 0.1],
    "delta": [0.1, 1e-5],
    "neighbors": ["replace_one", "add_remove"],
    "ledger": [None],
    "random_state": [0, None],
    "rho": [5.0],
    "invalid": ["replace", "raise"],
    "classes": [None, (0, 1)],
    "schema": [None],
    "class_weight": [None, {0: 1.0, 1: 0.5}],
    "offset_bounds": [None, (-1.0, 1.0)],
    "holdout": [None, 0.2],
    "intervals": [True, False],
    "confidence": [0.9],
    "verbose": [True],
    "estimator__epsilon": [50.0],
    "solver__calibration": ["published"],
}


@pytest.mark.parametrize("name", GUARANTEE)
@pytest.mark.parametrize("kind", ["dict", "list"])
def test_a_grid_does_not_decide_about_the_guarantee(name, kind):
    # Review finding: epsilon=[50, 0.1] ran trials at rho = 17.8 under a record that said 0.1.
    X, y, bounds = data(n=200)
    grid = {name: GUARANTEE[name]}
    ledger = Ledger(epsilon=100, delta=1e-3)
    search = PrivateSearchCV(
        SparseLogisticRegression(bounds=bounds),
        grid if kind == "dict" else [GRID, grid],
        epsilon=1.0,
        delta=1e-5,
        ledger=ledger,
    )
    for act in (search.price, lambda: search.fit(X, y)):
        with pytest.raises(ValueError, match=f"not {name}: what sets the guarantee"):
            act()
    assert ledger.history() == []


def test_what_a_grid_may_vary_are_parameters_of_the_estimators():
    parameters = set(SparseLogisticRegression().get_params())
    assert set(TUNABLE) < parameters
    assert parameters & set(GUARANTEE) | {"rho"} >= parameters - set(TUNABLE)


def test_only_our_estimators_without_a_ledger_of_their_own():
    from sklearn.pipeline import make_pipeline

    X, y, bounds = data(n=200)
    ledger = Ledger(epsilon=100, delta=1e-3)
    model = SparseLogisticRegression(bounds=bounds)
    for estimator, message in (
        (make_pipeline(model), "got Pipeline"),
        (PrivateSearchCV(model, GRID), "got PrivateSearchCV"),
        (SparseLogisticRegression(bounds=bounds, ledger=ledger), "ledger to the search"),
        (SparseLogisticRegression(bounds=bounds, intervals=True), "intervals do not know"),
    ):
        with pytest.raises(ValueError, match=message):
            PrivateSearchCV(estimator, GRID, epsilon=1.0, delta=1e-5).fit(X, y)
    assert ledger.history() == []
    with pytest.raises(ValueError, match="is empty"):
        PrivateSearchCV(model, [], epsilon=1.0, delta=1e-5).fit(X, y)


def test_settings_changed_later_are_those_that_count():
    X, y, bounds = data(n=200)
    ledger = Ledger(epsilon=100, delta=1e-3)
    search = PrivateSearchCV(
        SparseLogisticRegression(bounds=bounds, epsilon=50.0), GRID, epsilon=1.0, delta=1e-5
    )
    search.set_params(estimator__epsilon=70.0, epsilon=2.0, ledger=ledger)
    search.fit(X, y)
    assert [charge.epsilon for charge in ledger.history()] == [2.0]
    assert search.privacy_.epsilon == search.privacy_.proven_epsilon == 2.0
    search.set_params(param_grid={"epsilon": [9.0]})
    with pytest.raises(ValueError, match="not epsilon"):
        search.fit(X, y)


def test_every_trial_costs_what_was_charged_whatever_its_candidate(monkeypatch):
    X, y, bounds = data(n=200)
    seen = []
    run = Trial.run

    def watched(trial, stream):
        seen.append((trial.schedule, zcdp_rho(trial.events), zcdp_rho(trial.score_events)))
        return run(trial, stream)

    monkeypatch.setattr(Trial, "run", watched)
    grid = {
        "solver": ["pursuit", FrankWolfe(n_steps=7), Sparsifier(FrankWolfe(n_steps=20))],
        "n_nonzero": [1, 5],
        "bounds": [bounds, Bounds(-1, 1, row_norm=2.0)],
        "fit_intercept": [True, False],
    }
    search = PrivateSearchCV(
        SparseLogisticRegression(bounds=bounds), grid, epsilon=1.0, delta=1e-5, random_state=3
    ).fit(X, y)
    event = search.privacy_.events[0]
    assert len({str(schedule) for schedule, _, _ in seen}) > 2
    for _, model, score in seen:
        for cost in (model, score):
            assert event["rho_per_trial"] * (1 - 1e-6) < cost <= event["rho_per_trial"]
    assert event["rho_per_trial"] <= search.price()["rho_per_trial"]
    spent = repeated_epsilon(
        event["rho_per_trial"], 1e-5, event["expected_trials"], event["distribution"]
    )
    assert 0.999 < spent <= 1.0


def test_searches_records_in_blocks():
    X, y, bounds = data(n=600)
    records = RecordBlocks.from_arrays(X, y, rows_per_block=200)
    model = SparseLogisticRegression(bounds=bounds, classes=(0, 1))
    search = PrivateSearchCV(model, {"n_nonzero": [2, 3]}, epsilon=3.0, delta=1e-5, random_state=1)
    in_blocks = search.fit(records).best_estimator_.coef_
    np.testing.assert_allclose(search.fit(X, y).best_estimator_.coef_, in_blocks, rtol=1e-9)


@pytest.mark.parametrize(
    ("solver", "message"),
    [
        (Screened(ADMM(noise="pure")), "Screened cannot share a budget with this ADMM"),
        (Sparsifier(ADMM(noise="pure"), n_nonzero="count"), "leaves none, as its noise is pure"),
    ],
)
def test_pure_noise_leaves_nothing_to_a_wrapper(solver, message):
    X, y, bounds = data(n=200)
    model = SparseLogisticRegression(epsilon=1.0, delta=1e-5, bounds=bounds, solver=solver)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def test_a_record_trains_or_scores_and_moves_a_score_by_at_most_one():
    X, y, bounds = data(n=300)
    model = SparseLogisticRegression(bounds=bounds, classes=(0, 1))
    candidate = candidates(model, {}, epsilon=1.0, delta=1e-5)[0]
    problem = candidate.estimator._problem(Given(X, y), candidate.settings)
    scoring = np.arange(300) % 5 == 0
    trial = Trial.of(candidate.settings, problem, scoring, 0.01)
    for part, chosen in ((trial.problem.data, ~scoring), (trial.validation, scoring)):
        np.testing.assert_array_equal(part.target, y[chosen])
    # A sure and right model scores one for every record, a sure and wrong one nothing.
    constant = np.zeros(trial.plan.public.weights_shape)
    scores = []
    for sure in (50.0, -50.0):
        constant[-1] = sure
        scores.append(trial._score(Solution(weights=constant)))
    assert scores == pytest.approx([y[scoring].sum(), (1 - y[scoring]).sum()])
    assert ONE_RECORD.add_remove == ONE_RECORD.replace_one == 1.0


def test_solvers_with_caveats_are_not_tried():
    class Doubtful(FrankWolfe):
        caveats = ("Nobody has proven this.",)

    X, y, bounds = data(n=200)
    model = SparseLogisticRegression(bounds=bounds)
    search = PrivateSearchCV(model, {"solver": [Doubtful()]}, epsilon=1.0, delta=1e-5)
    with pytest.raises(ValueError, match="calibration='sound'"):
        search.fit(X, y)

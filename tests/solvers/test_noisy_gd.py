"""NoisyGD without noise against other optimizers, in every geometry; public pre-training."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.linear_model import LinearRegression, LogisticRegression

from sparsedp import Bounds, SparseLinearRegression, SparseLogisticRegression
from sparsedp.audit.replay import largest_movements
from sparsedp.data.dataset import Dataset
from sparsedp.data.sums.losses import gradient_sum, mean_loss
from sparsedp.data.synthetic import hoseinpour, sparse_glm
from sparsedp.estimators.pretraining import fit_public_model
from sparsedp.losses import Logistic
from sparsedp.mechanisms import NoiselessCurator, recording
from sparsedp.mechanisms.scripted import Scripted, ScriptedCurator
from sparsedp.privacy import PublicFacts
from sparsedp.solvers import IGHT, NoisyGD, Sparsifier
from tests.cases import LOSSES, N_FEATURES, public_facts, random_table
from tests.solved import recorded


@pytest.mark.parametrize("loss", LOSSES)
def test_without_noise_it_reaches_the_optimum(loss):
    data = random_table(loss, 400, 3).dataset()
    public = public_facts(loss, "add_remove", 0)

    def value_and_gradient(weights):
        w = weights.reshape(public.weights_shape)
        gradient = gradient_sum(data, LOSSES[loss], w, np.inf)
        return mean_loss(data, LOSSES[loss], w), gradient.ravel() / data.n_records

    best = minimize(
        value_and_gradient,
        np.zeros(int(np.prod(public.weights_shape))),
        jac=True,
        method="L-BFGS-B",
        options={"gtol": 1e-10, "ftol": 1e-15},
    )
    w = NoisyGD(n_steps=200).solve(data, LOSSES[loss], NoiselessCurator(public)).weights
    assert mean_loss(data, LOSSES[loss], w) <= best.fun + 1e-10
    assert np.abs(value_and_gradient(w.ravel())[1]).max() < 1e-8


def test_without_noise_it_is_scikit_learns_model():
    made = sparse_glm(2000, 8, 3, "logistic", seed=1)
    ours = SparseLogisticRegression(
        epsilon=float("inf"), delta=1e-6, bounds=(-1, 1), solver=NoisyGD(n_steps=300)
    ).fit(made.X, made.y)
    theirs = LogisticRegression(C=1e8, tol=1e-10, max_iter=1000).fit(made.X, made.y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-3)
    made = sparse_glm(500, 5, 3, "linear", seed=1)
    ours = SparseLinearRegression(
        epsilon=float("inf"),
        delta=1e-6,
        bounds=Bounds(-1, 1, row_norm=3.0),  # never reached: declared units, same answer
        target_bounds=made.target_bounds,
        solver=NoisyGD(n_steps=300),
    ).fit(made.X, made.y)
    theirs = LinearRegression().fit(made.X, made.y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-6)


SOLVERS = {
    "noisy_gd": NoisyGD(n_steps=4),
    "ight": IGHT(n_nonzero=2, n_steps=4),
    "peeling": IGHT(n_nonzero=2, n_steps=3, peeling=True),
    "sparsifier": Sparsifier(NoisyGD(n_steps=3, clip=2.0), n_nonzero=2),
}


def geometry(row_norm, intercept, extra, layout="dense"):
    """Records in declared units or the unit box, and one more (or another one) at the end."""
    random = np.random.default_rng(5)
    X = np.vstack([random.uniform(-3, 3, (30, 4)), *([extra[0]] if extra else [])])
    y = np.append(random.integers(0, 2, 30), [extra[1]] if extra else [])
    bounds = Bounds([-4, 0, -1, -2], [4, 2, 3, 2], row_norm=row_norm)
    X = X if layout == "dense" else sparse.csr_array(X)
    return Dataset.clip(X, y, bounds, intercept=intercept)


@pytest.mark.parametrize(
    ("name", "pretrained"),
    [  # peeling starts from zero: it refuses a public model
        *((name, False) for name in SOLVERS),
        *((name, True) for name in SOLVERS if name != "peeling"),
    ],
)
@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("row_norm", [None, 2.5])
@pytest.mark.parametrize("intercept", [True, False])
def test_queries_keep_their_sensitivity_in_every_geometry(
    name, neighbors, row_norm, intercept, pretrained
):
    """The two tests of every solver, where the common table does not go."""
    solver, n_columns = SOLVERS[name], 4 + intercept
    public = PublicFacts(
        n_features=4,
        n_nonzero=2,
        intercept=intercept,
        neighbors=neighbors,
        n_records=31 if neighbors == "replace_one" else None,
        row_norm=row_norm,
        initial_weights=np.linspace(-4, 5, n_columns) if pretrained else None,
    )
    corner = np.full(4, 1e6)
    pairs = [
        ((corner, 1), (-corner, 1)),
        ((corner, 0), (corner, 1)),
        ((corner, 1), (0 * corner, 0)),
    ]
    worst = 0.0
    for epsilon in (1.0, 300.0):
        for one, other in pairs:
            first = geometry(row_norm, intercept, one)
            changed = None if neighbors == "add_remove" else other
            second = geometry(row_norm, intercept, changed, "sparse")
            how = {"epsilon": epsilon, "delta": 1e-3, "seed": 3}
            solution, queries, _ = recorded(solver, first, Logistic(), public, **how)
            script = ScriptedCurator(public, Scripted([query.answer for query in queries]))
            replayed, asked = recording.recorded(script)
            again = solver.solve(second, Logistic(), replayed)
            assert again.weights.tobytes() == solution.weights.tobytes()
            moved = largest_movements(queries, asked, neighbors)
            worst = max(worst, *moved.values())
    assert 0.6 < worst <= 1 + 1e-9


@pytest.mark.parametrize("solver", [NoisyGD(), IGHT()], ids=["noisy_gd", "ight"])
def test_under_loud_noise_a_public_model_stays(solver):
    """Seeded. At epsilon = 0.1 four hundred records say nothing; without a model to start from
    accuracy is that of a coin."""
    made = hoseinpour(seed=2)
    public, private = made.public, made.private
    start = fit_public_model(public.X, public.y, bounds=public.bounds)
    scores = {
        model is not None: np.mean(
            [
                SparseLogisticRegression(
                    epsilon=0.1,
                    delta=1e-5,
                    bounds=private.bounds,
                    n_nonzero=2,
                    solver=solver,
                    initial_model=model,
                    random_state=seed,
                )
                .fit(private.X, private.y)
                .score(private.X, private.y)
                for seed in range(20)
            ]
        )
        for model in (None, start)
    }
    alone = start.score(private.X, private.y)
    assert scores[True] > scores[False] + 0.05
    assert scores[True] > alone - 0.03


def test_with_no_noise_a_public_model_does_not_matter():
    made = hoseinpour(seed=2)
    start = fit_public_model(made.public.X, made.public.y, bounds=made.public.bounds)
    settings = {"epsilon": float("inf"), "delta": 1e-5, "bounds": 3.0}
    one, other = (
        SparseLogisticRegression(solver=NoisyGD(n_steps=100), initial_model=model, **settings)
        .fit(made.private.X, made.private.y)
        .coef_
        for model in (None, start)
    )
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_public_models_of_every_kind_can_be_started_from():
    for task in ("logistic", "multinomial", "linear"):
        made = sparse_glm(600, N_FEATURES, 3, task, seed=4)
        X = made.X * np.array([1, 10, 0.1, 1, 1, 100])
        bounds = Bounds([-1, -10, -0.1, -1, -1, -100], [1, 10, 0.1, 1, 1, 100])
        regression = task == "linear"
        start = fit_public_model(
            sparse.csr_array(X),
            made.y,
            bounds=bounds,
            task="regression" if regression else "classification",
            penalty=1e-3,
        )
        from_dense = fit_public_model(
            X,
            made.y,
            bounds=bounds,
            task="regression" if regression else "classification",
            penalty=1e-3,
        )
        np.testing.assert_allclose(start.coef_, from_dense.coef_, rtol=1e-3, atol=1e-3)
        kind = SparseLinearRegression if regression else SparseLogisticRegression
        target = {"target_bounds": made.target_bounds} if regression else {}
        model = kind(
            epsilon=1.0,
            delta=1e-5,
            bounds=bounds,
            solver=NoisyGD(n_steps=3),
            initial_model=start,
            random_state=1,
            **target,
        ).fit(X, made.y)
        assert model.coef_.shape == start.coef_.shape
        assert model.score(X, made.y) > start.score(X, made.y) - 0.05


def test_other_features_classes_or_models_are_refused():
    made = sparse_glm(100, 5, 2, "logistic", seed=4)
    start = fit_public_model(made.X[:, :4], made.y, bounds=1.0)
    private = SparseLogisticRegression(
        epsilon=1.0, delta=1e-5, bounds=1.0, solver="noisy_gd", random_state=1
    )
    with pytest.raises(ValueError, match="same features"):
        private.set_params(initial_model=start).fit(made.X, made.y)
    three = fit_public_model(made.X, np.arange(100) % 3, bounds=1.0)
    with pytest.raises(ValueError, match="classes"):
        private.set_params(initial_model=three).fit(made.X, made.y)
    with pytest.raises(ValueError, match="fitted linear model"):
        private.set_params(initial_model=LogisticRegression()).fit(made.X, made.y)
    peeling = replace(IGHT(), peeling=True)
    with pytest.raises(ValueError, match="initial_model=None"):
        private.set_params(
            initial_model=fit_public_model(made.X, made.y, bounds=1.0), solver=peeling
        ).fit(made.X, made.y)
    with pytest.raises(ValueError, match="one class"):
        fit_public_model(made.X, np.ones(100), bounds=1.0)
    with pytest.raises(ValueError, match="task"):
        fit_public_model(made.X, made.y, bounds=1.0, task="ranking")
    with pytest.raises(ValueError, match="penalty"):
        fit_public_model(made.X, made.y, bounds=1.0, penalty=0)


def test_impossible_settings():
    for settings, message in (
        ({"n_steps": 0}, "n_steps"),
        ({"n_steps": 1.5}, "n_steps"),
        ({"step_size": -1}, "step_size"),
        ({"clip": float("inf")}, "clip"),
        ({"calibration": "lucky"}, "calibration"),
    ):
        with pytest.raises(ValueError, match=message):
            NoisyGD(**settings)


@pytest.mark.parametrize(("epsilon", "raised"), [(0.1, False), (1.0, False), (10.0, True)])
def test_the_clip_stays_at_its_start_unless_noise_is_quiet(epsilon, raised):
    """Seed 5: residuals are 1/2 at zero weights, so that a higher clip would only be more noise."""
    data = random_table("logistic", 400, 3).dataset()
    public = public_facts("logistic", "add_remove", 0)
    _, queries, _ = recorded(NoisyGD(), data, Logistic(), public, epsilon=epsilon, seed=5)
    clips = [query.declared.add_remove for query in queries if query.name == "gradient"]
    assert max(clips) > 1.5 * clips[0] if raised else max(clips) == clips[0]

"""Seeded synthetic sets: those of the papers, and a generic one with a known answer.

Each docstring states the recipe and what the paper leaves open. `seed` is any seed of
`numpy.random.default_rng`; equal seeds give equal sets.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sparsedp.data.bounds import Bounds
from sparsedp.data.storage import Array

Seed = int | Sequence[int] | np.random.Generator | np.random.SeedSequence | None

Task = Literal["linear", "logistic", "multinomial"]


@dataclass(frozen=True, eq=False)
class SyntheticData:
    """A synthetic set and the truth behind it.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
        Integer labels, or float targets of a linear set.
    weights : ndarray of shape (d,) or (d, K)
        The truth in the units of X and the sign of a fitted model: the mean of a linear target is
        ``X @ weights``; label 1 is the likelier where ``X @ weights > 0``.
    bounds : Bounds
        Promises that X keeps.
    target_bounds : tuple of float, or None
        Limits of y that follow from the recipe; None for labels and for unbounded noise.
    """

    X: Array
    y: Array | NDArray[np.int64]
    weights: Array
    bounds: Bounds
    target_bounds: tuple[float, float] | None = None

    def __repr__(self) -> str:
        n, d = self.X.shape
        return f"SyntheticData(n={n}, d={d}, bounds={self.bounds!r})"


@dataclass(frozen=True, eq=False)
class PublicPrivateData:
    """A public set to start from and a private set of the same distribution."""

    public: SyntheticData
    private: SyntheticData


def wang_zhang(n: int = 10_000, d: int = 100, *, seed: Seed) -> SyntheticData:
    """Make the synthetic set of Khanna et al. (2024), after Wang and Zhang (2020).

    Rows are N(0, S) with S_ij = 0.5^|i-j|; each feature is divided by its largest absolute value;
    the first eight weights are 10, 9, 8, 7, 6, 5, 4 and 0.5, the rest zero; the label is 1 where
    the score of the scaled record is positive, so labels carry no noise.

    Left open: whether the scaling is done before or after records are held out (here: before).
    The scaling looks at the data, so that |x| <= 1 is a promise only if the scaled set is taken as
    given.
    """
    if d < 8:
        raise ValueError("d must be at least 8: eight weights are not zero.")
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    for j in range(1, d):  # x_j = x_{j-1} / 2 + noise has covariance 0.5^|i-j| and variance 1
        X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * X[:, j]
    X /= np.abs(X).max(axis=0)
    weights = np.zeros(d)
    weights[:8] = [10, 9, 8, 7, 6, 5, 4, 0.5]
    return SyntheticData(X, (X @ weights > 0).astype(np.int64), weights, Bounds.symmetric(1.0))


def wang_gu(
    n: int = 1000,
    d: int = 1000,
    n_nonzero: int = 10,
    task: Task = "linear",
    *,
    seed: Seed,
) -> SyntheticData:
    """Make the linear or logistic set of Wang and Gu (2019).

    Weights are uniform on (-1, 1) on a support of `n_nonzero` features; entries of X are uniform on
    (-2, 2) and rows are scaled to an L2 norm of at most ``2 * n_nonzero``; linear targets add
    noise of variance 0.1. The paper uses n = d = 1000 with 10 and n = d = 5000 with 30 features.

    Its logistic model reads P(y = 1) = 1 / (1 + exp(<x, theta>)), the opposite of the usual sign.
    `weights` holds -theta here, what a fitted model estimates.

    Left open: where the support lies (here: at random) and whether short rows are stretched to
    the norm (here: not; at the paper's sizes nearly every row is longer). Bounds are public by
    construction; the linear target is not bounded, so choose `target_bounds` yourself.
    """
    _check_task(task, ("linear", "logistic"))
    rng = np.random.default_rng(seed)
    theta = np.zeros(d)
    theta[_support(rng, d, n_nonzero)] = rng.uniform(-1, 1, n_nonzero)
    X = rng.uniform(-2, 2, (n, d))
    row_norm = 2.0 * n_nonzero
    X *= np.minimum(1, row_norm / np.linalg.norm(X, axis=1))[:, None]
    bounds = Bounds.symmetric(2.0, row_norm=row_norm)
    score = X @ theta
    if task == "linear":
        return SyntheticData(X, score + rng.normal(0, np.sqrt(0.1), n), theta, bounds)
    y = rng.random(n) < _sigmoid(-score)
    return SyntheticData(X, y.astype(np.int64), -theta, bounds)


def khanna_screening(
    n: int = 3000,
    d: int = 600,
    n_nonzero: int = 70,
    task: Task = "linear",
    *,
    seed: Seed,
) -> SyntheticData:
    """Make the set of Khanna et al., "The Challenge of Differentially Private Screening Rules".

    Entries are standard normal and scaled to |x| <= 1; half of the `n_nonzero` true weights are +1,
    half -1; the linear target is the score itself, the label says whether it is positive. Neither
    carries noise.

    Left open: one scale for the whole set or one per feature (here: one for the set), and where
    the support lies (here: at random). The scaling looks at the data, as in `wang_zhang`.
    Target bounds follow from the weights and are much wider than typical targets.
    """
    _check_task(task, ("linear", "logistic"))
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X /= np.abs(X).max()
    weights = np.zeros(d)
    support = _support(rng, d, n_nonzero)
    weights[support[: n_nonzero // 2]] = 1
    weights[support[n_nonzero // 2 :]] = -1
    score, bounds = X @ weights, Bounds.symmetric(1.0)
    if task == "linear":
        return SyntheticData(X, score, weights, bounds, (-float(n_nonzero), float(n_nonzero)))
    return SyntheticData(X, (score > 0).astype(np.int64), weights, bounds)


def hoseinpour(n_private: int = 400, n_public: int = 400, *, seed: Seed) -> PublicPrivateData:
    """Make two sets shaped as those of Hoseinpour et al.: two features, 400 public, 400 private.

    The paper classifies patients into high and low risk of heart disease by two medical features
    and does not name the source of either set, so this is a stand-in of the same shape, not
    theirs: features are normal with correlation 0.3, clipped to [-3, 3]; the label is drawn from a
    logistic model whose best possible accuracy is about 0.78, the paper's best.
    """
    rng = np.random.default_rng(seed)
    weights = np.array([1.5, 1.0])

    def draw(n: int) -> SyntheticData:
        X = rng.standard_normal((n, 2))
        X[:, 1] = 0.3 * X[:, 0] + np.sqrt(1 - 0.3**2) * X[:, 1]
        X = np.clip(X, -3, 3)
        y = rng.random(n) < _sigmoid(X @ weights)
        return SyntheticData(X, y.astype(np.int64), weights, Bounds.symmetric(3.0))

    return PublicPrivateData(public=draw(n_public), private=draw(n_private))


def sparse_glm(
    n: int,
    d: int,
    n_nonzero: int,
    task: Task = "logistic",
    *,
    seed: Seed,
    n_classes: int = 3,
) -> SyntheticData:
    """Make a set whose true features are easy to tell from the rest.

    Entries of X are independent and uniform on [-1, 1]. True weights are +-3 at random places. A
    linear target adds noise of standard deviation 0.3 and is clipped to the largest possible
    score; labels are drawn from the logistic model, or for "multinomial" from the softmax of
    `n_classes` columns with `n_nonzero` weights each. Bounds are public by construction.
    """
    _check_task(task, ("linear", "logistic", "multinomial"))
    rng = np.random.default_rng(seed)
    n_columns = n_classes if task == "multinomial" else 1
    weights = np.zeros((d, n_columns))
    for column in weights.T:
        column[_support(rng, d, n_nonzero)] = 3.0 * rng.choice([-1, 1], n_nonzero)
    X = rng.uniform(-1, 1, (n, d))
    score, bounds = X @ weights, Bounds.symmetric(1.0)
    if task == "multinomial":
        # The largest of score + Gumbel noise is a draw from the softmax.
        y = (score + rng.gumbel(size=score.shape)).argmax(axis=1)
        return SyntheticData(X, y, weights, bounds)
    weights, score = weights[:, 0], score[:, 0]
    if task == "logistic":
        y = rng.random(n) < _sigmoid(score)
        return SyntheticData(X, y.astype(np.int64), weights, bounds)
    limit = float(np.abs(weights).sum())
    y = np.clip(score + rng.normal(0, 0.3, n), -limit, limit)
    return SyntheticData(X, y, weights, bounds, (-limit, limit))


def _support(rng: np.random.Generator, d: int, n_nonzero: int) -> NDArray[np.int64]:
    if not 1 <= n_nonzero <= d:
        raise ValueError(f"n_nonzero must lie between 1 and d={d}.")
    return rng.choice(d, n_nonzero, replace=False)


def _check_task(task: str, known: tuple[str, ...]) -> None:
    if task not in known:
        raise ValueError(f"task must be one of {', '.join(known)}.")


def _sigmoid(score: Array) -> Array:
    return 0.5 * (1 + np.tanh(0.5 * score))  # no overflow at either end

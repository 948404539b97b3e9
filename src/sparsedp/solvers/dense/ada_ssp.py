"""Least squares from a noisy Gram matrix, its ridge by a noisy eigenvalue (proof: ada_ssp.md)."""

import math
from dataclasses import dataclass

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.losses import Coded, Loss
from sparsedp.mechanisms import Curator
from sparsedp.privacy import Perturb, PublicFacts, Schedule, Sensitivity
from sparsedp.solvers.dense.statistics import (
    GramOf,
    ResidualProducts,
    check_columns,
    gram_sensitivity,
    mirrored,
)
from sparsedp.solvers.l2_view import l2_view, to_unit
from sparsedp.solvers.solver import (
    LARGEST,
    SMALLEST,
    Solution,
    check_needs,
    check_positive_integer,
    check_size,
    refuse_initial_model,
)

FAILURE = 0.05
"""Probability that the noise of the Gram matrix exceeds what the ridge allows for."""

BELOW = 1.96
"""Standard deviations that are taken off the released eigenvalue."""

LEAST = 1e-10
"""Of the largest eigenvalue: directions with less say nothing."""


@dataclass(frozen=True)
class AdaSSP:
    """Least squares from noisy sufficient statistics, with a ridge as large as noise calls for.

    The method of Wang (2018). Every feature gets a weight: a baseline for few features and many
    records, and hard to beat there. A bad idea when features are many: the noise is that of the
    products of all pairs. Classes are fitted as numbers (-1 and 1, or corners of a simplex), so
    probabilities are those of a line about one half.

    Notes
    -----
    *Privacy.* Three Gaussian releases of equal cost: the least eigenvalue of the Gram matrix, the
    matrix, and the products with the target. Row norms are those of the bounds.
    """

    needs = (Coded,)

    @property
    def caveats(self) -> tuple[str, ...]:
        """None: the guarantee is proven."""
        return ()

    def schedule(self, public: PublicFacts) -> Schedule:
        """Eigenvalue, matrix, products."""
        return statistics_schedule(self, public, 1)

    def solve(self, data: Dataset, loss: Loss, curator: Curator) -> Solution:
        """One ridge regression."""
        return Solution(weights=regressed(data, loss, curator, 1, 1.0))


@dataclass(frozen=True, kw_only=True)
class BoostedAdaSSP:
    """Ridge regressions on what is left, that share one noisy Gram matrix.

    The method of Tang et al. (2024): AdaSSP again and again on clipped residuals. Clipping makes it
    robust where the target is far from its bounds; more rounds mean more noise in each.

    Parameters
    ----------
    n_rounds : int
        Regressions.
    clip : float
        Norm beyond which residuals are shrunk, in units of half the target's range.

    Notes
    -----
    *Privacy.* Gaussian releases of equal cost: the least eigenvalue of the Gram matrix, the matrix,
    and in every round the products with clipped residuals.
    """

    n_rounds: int = 100
    clip: float = 1.0

    needs = (Coded,)

    def __post_init__(self) -> None:
        check_positive_integer("n_rounds", self.n_rounds)
        check_size("clip", self.clip)

    @property
    def caveats(self) -> tuple[str, ...]:
        """None: the guarantee is proven."""
        return ()

    def schedule(self, public: PublicFacts) -> Schedule:
        """Eigenvalue, matrix, and products in every round."""
        return statistics_schedule(self, public, self.n_rounds)

    def solve(self, data: Dataset, loss: Loss, curator: Curator) -> Solution:
        """One regression after another."""
        return Solution(weights=regressed(data, loss, curator, self.n_rounds, self.clip))


def statistics_schedule(
    solver: AdaSSP | BoostedAdaSSP, public: PublicFacts, n_rounds: int
) -> Schedule:
    """Releases of equal cost, those of all rounds in one request."""
    name = type(solver).__name__
    refuse_initial_model(public, name)
    check_needs(solver, public)
    check_columns(public, name)
    # Written so that what is not a number is refused.
    if public.row_norm is not None and not SMALLEST <= public.row_norm <= LARGEST:
        raise ValueError(f"{name} takes row norms from {SMALLEST:g} to {LARGEST:g}: rescale X")
    return Schedule(
        (
            Perturb(1.0, name="least_eigenvalue"),
            Perturb(1.0, name="gram"),
            Perturb(float(n_rounds), name="products"),
        )
    )


def regressed(
    data: Dataset, loss: Loss, curator: Curator, n_rounds: int, clip: float
) -> np.ndarray:
    """Weights in unit coordinates, from `n_rounds` regressions. Released."""
    assert isinstance(loss, Coded)
    view = l2_view(data)
    inverse = _released_inverse(view, curator)
    w = np.zeros(curator.public.weights_shape)
    bound = clip * view.norm_bound
    for _ in range(n_rounds):
        products = view.total(ResidualProducts(loss, w, clip))  # private
        noisy = curator.perturb(products, bound, share=1 / n_rounds, name="products")  # released
        w = np.clip(w + inverse @ noisy, -LARGEST, LARGEST)
    return to_unit(loss.code_slope * w, data)


def _released_inverse(view: Dataset, curator: Curator) -> np.ndarray:
    """Inverse of the noisy Gram matrix with its ridge. Released."""
    p, square = view.n_columns, view.norm_bound**2
    gram = view.total(GramOf())  # private
    exact = np.linalg.eigvalsh(gram)[:1]  # private
    by_one = Sensitivity(add_remove=square, replace_one=square)
    least = curator.perturb(exact, by_one, name="least_eigenvalue")[0]  # released
    surely = max(least - BELOW * curator.noise_level(by_one, name="least_eigenvalue"), 0.0)
    sensitivity = gram_sensitivity(view)
    noisy = curator.perturb(gram[np.triu_indices(p)], sensitivity, name="gram")  # released
    noise = curator.noise_level(sensitivity, name="gram")
    ridge = max(noise * math.sqrt(p * math.log(2 * p**2 / FAILURE)) - surely, 0.0)
    values, vectors = np.linalg.eigh(mirrored(noisy, p))
    values = values + ridge
    # The ridge makes them positive but for an unlucky draw, or where there is no noise.
    known = values > max(noise, LEAST * float(np.abs(values).max()))
    return (vectors[:, known] / values[known]) @ vectors[:, known].T

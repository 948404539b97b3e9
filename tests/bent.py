"""A small solver whose models bend, and interact: one noisy sum, so that later steps have both."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsedp.data.bend import Bend
from sparsedp.data.interaction import Interaction
from sparsedp.data.sums.products import column_sums
from sparsedp.data.sums.weighed import weighed
from sparsedp.privacy import Perturb, PublicFacts, Schedule, Sensitivity
from sparsedp.solvers import Pursuit, Solution, SolutionPath

INNER = np.array([-0.5, 0.1, 0.5])
KNOTS = np.concatenate([[-1.0], INNER, [1.0]])


@dataclass(frozen=True)
class Bent(Pursuit):
    """Weights and heights are sums of residuals at zero, of the features that have the largest.

    *Privacy.* A record adds 1, and its residual (of norm at most 1) times 1, times its features
    and times hat functions of these, whose squares add up to at most 1 for each feature, and times
    a product for each pair: a vector of norm at most sqrt(2 + 2d + p).
    """

    step: float = 4.0
    tight: bool = False
    """Whether to clip to the middle of the bounds, a public choice here."""
    path: bool = False
    """Whether to give a path of its own."""
    pairs: tuple[tuple[int, int], ...] = ()
    """Of features that interact, wherever interactions are allowed."""

    needs = ()

    @property
    def caveats(self) -> tuple[str, ...]:
        return ()

    def schedule(self, public: PublicFacts) -> Schedule:
        return Schedule((Perturb(name="sums"),))

    def interacts(self, public: PublicFacts) -> bool:
        """Also where some features are chosen."""
        return public.interactions

    def solve(self, data: Any, loss: Any, curator: Any) -> Solution:
        public, d = curator.public, data.n_features
        pairs = self.pairs if public.interactions else ()
        bounds = None
        if self.tight:
            lower, upper = data.bounds.arrays(d)
            bounds = data.bounds.with_limits(lower * 0.5, upper * 0.5)
            data = data.tightened(bounds)
        residual = np.reshape(
            loss.residual(np.zeros((data.n_records, *public.weights_shape[1:])), data.target),
            (data.n_records, public.n_outputs),
        )
        residual = residual / np.maximum(1, np.sqrt((residual**2).sum(axis=1)))[:, None]
        columns = data.columns(range(d))
        hats = [np.interp(columns, KNOTS, height) for height in np.eye(len(KNOTS))[1:-1]]
        products = [columns[:, [i]] * columns[:, [j]] for i, j in pairs]
        basis = np.concatenate([np.ones((len(columns), 1)), columns, *hats, *products], axis=1)
        each = (basis[:, :, None] * residual[:, None, :]).reshape(
            len(columns), basis.shape[1] * public.n_outputs
        )
        each = np.concatenate([np.ones((len(columns), 1)), each], axis=1)
        sums = column_sums(weighed(each, data.weights))  # private
        norm = float(np.sqrt(2 + 2 * d + len(pairs)))
        answer = curator.perturb(sums, Sensitivity(add_remove=norm, replace_one=2 * norm))
        table = (
            -self.step * answer[1:].reshape(basis.shape[1], public.n_outputs) / max(answer[0], 1.0)
        )
        slopes, rest = table[1 : d + 1], table[d + 1 :]
        heights = rest[: len(INNER) * d].reshape(len(INNER), d, -1)
        joined = tuple(
            Interaction(*pair, products)
            for pair, products in zip(pairs, rest[len(INNER) * d :], strict=True)
            if products.any()
        )
        chosen = np.sort(np.argsort(-np.abs(slopes).sum(axis=1))[: public.n_nonzero])
        weights = np.zeros((public.n_columns, public.n_outputs))
        weights[chosen] = slopes[chosen]
        if public.intercept:
            weights[d] = table[0]
        bends = () if public.shapes == "linear" else tuple(bend(j, heights[:, j]) for j in chosen)
        return Solution(
            weights=weights.reshape(public.weights_shape),
            bounds=bounds,
            path=SolutionPath.by_weight(weights, d, bends, joined) if self.path else None,
            bends=bends,
            interactions=joined,
        )


def bend(feature: int, inner: Any) -> Bend:
    """With these heights at the inner knots."""
    return Bend(int(feature), KNOTS, np.pad(inner, ((1, 1), (0, 0))))

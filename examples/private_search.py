"""Choosing settings costs privacy: pay once, and know the price beforehand."""

from sparsedp import Bounds, PrivateSearchCV, SparseLogisticRegression
from sparsedp.data.synthetic import wang_zhang
from sparsedp.solvers import FrankWolfe, Sparsifier

made = wang_zhang(n=10_000, d=100, seed=0)
search = PrivateSearchCV(
    SparseLogisticRegression(bounds=Bounds(lower=-1, upper=1), n_nonzero=15, classes=[0, 1]),
    {"solver": [Sparsifier(FrankWolfe(radius=r, n_steps=100)) for r in (3, 10, 30)]},
    epsilon=3.0,
    delta=1e-6,
)
print("price:", {name: round(value, 6) for name, value in search.price().items()})
search.fit(made.X, made.y)
print("chosen radius:", search.best_params_["solver"].solver.radius)
print(search.privacy_.statement())

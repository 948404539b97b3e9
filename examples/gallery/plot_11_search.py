"""
Trying settings has a price
===========================

Every fit that is looked at is a release. ``PrivateSearchCV`` publishes only the best of a random
number of trials, which costs far less than the sum; a default that needs no tuning costs nothing.
"""

import matplotlib.pyplot as plt

from sparsedp import PrivateSearchCV, SparseLogisticRegression
from sparsedp.data.synthetic import wang_zhang
from sparsedp.solvers import FrankWolfe

made = wang_zhang(8_000, 50, seed=11)
X, y, new_X, new_y = made.X[:6_000], made.y[:6_000], made.X[6_000:], made.y[6_000:]
base = SparseLogisticRegression(bounds=(-1, 1), n_nonzero=15, classes=[0, 1])
radii = [0.3, 3, 30]
search = PrivateSearchCV(
    base,
    {"solver": [FrankWolfe(radius=radius, n_steps=50) for radius in radii]},
    epsilon=2.0,
    delta=1e-6,
    random_state=1,
).fit(X, y)
print("price:", {name: round(value, 4) for name, value in search.price().items()})
print("chosen radius:", search.best_params_["solver"].radius)

# %%
# Beside it: each setting with the whole budget, which nobody can have without paying for each,
# and the default solver.


def accuracy(solver):
    settings = {**base.get_params(), "epsilon": 2.0, "delta": 1e-6, "random_state": 0}
    model = SparseLogisticRegression(**{**settings, "solver": solver})
    return model.fit(X, y).score(new_X, new_y)


bars = {f"radius {radius}": accuracy(FrankWolfe(radius=radius, n_steps=50)) for radius in radii}
bars["private search"] = search.best_estimator_.score(new_X, new_y)
bars["pursuit, untuned"] = accuracy("pursuit")
fig, ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
colors = ["0.75"] * 3 + ["tab:orange", "tab:blue"]
ax.barh(list(bars)[::-1], list(bars.values())[::-1], color=colors[::-1])
ax.set(xlabel="accuracy on new records", xlim=(0.5, 1), title="At epsilon = 2")

"""
Wild values: Huber's loss
=========================

One cost in twenty was typed with a zero too many. Bounds of the target keep such cells from
adding noise for all; Huber's loss keeps them from pulling the line.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparsedp import SparseLinearRegression

random = np.random.default_rng(6)
n = 20_000
X = random.uniform(0, 1, (n, 3))
cost = 1_000 + 3_000 * X[:, 0] + random.normal(0, 300, n)
typed = np.where((random.random(n) < 0.05) & (X[:, 0] > 0.5), 10 * cost, cost)

fig, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
some = random.choice(n, 1_500, replace=False)
ax.plot(X[some, 0], np.minimum(typed[some], 20_000), ".", color="0.8", markersize=3)
line = np.column_stack([np.linspace(0, 1, 20), np.full((20, 2), 0.5)])
for loss in ("squared", "huber"):
    model = SparseLinearRegression(
        epsilon=1.0,
        delta=1e-6,
        bounds=(0, 1),
        target_bounds=(0, 20_000),
        loss=loss,
        shapes="linear",
        random_state=0,
    ).fit(X, typed)
    ax.plot(line[:, 0], model.predict(line), label=f"private, {loss}", linewidth=2)
ax.plot([0, 1], [1_000, 4_000], "k--", label="truth")
ax.set(xlabel="feature", ylabel="cost", ylim=(0, 8_000))
ax.legend(frameon=False)

"""
Intervals, for a paper
======================

A coefficient without an interval reads as a finding. Part of the budget pays for saying how well
each one is known, sampling and privacy noise together.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparsedp import Bounds, SparseLogisticRegression

random = np.random.default_rng(9)
names = ["age", "dose", "smoker", "weight", "distance", "weekday"]
truth = np.array([0.8, -0.6, 0.5, 0.0, 0.0, 0.0])
X = random.uniform(-1, 1, (20_000, 6))
X[:, 2] = random.random(20_000) < 0.3
y = random.random(20_000) < 1 / (1 + np.exp(-(X @ truth - 0.5)))
model = SparseLogisticRegression(
    epsilon=1.0,
    delta=1e-6,
    bounds=Bounds(lower=[-1, -1, 0, -1, -1, -1], upper=[1] * 6, features=names, binary=["smoker"]),
    classes=[False, True],
    intervals=True,
    random_state=0,
).fit(X, y)
print(model.summary())

# %%
# The same as a forest plot.

fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
places = np.arange(6)[::-1]
low, high = model.intervals_.reshape(6, 2).T
ax.hlines(places, low, high, linewidth=3)
ax.plot(model.coef_[0], places, "o", label="private estimate")
ax.plot(truth, places, "kx", label="truth")
ax.axvline(0, color="0.6", linewidth=0.8)
ax.set_yticks(places, names)
ax.set(xlabel="log-odds", title="95 % intervals at epsilon = 1")
ax.legend(frameon=False)

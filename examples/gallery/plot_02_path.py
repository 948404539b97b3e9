"""
How many features? The path is free
===================================

A fitted model has those with fewer features in it, at no further charge: choose among them by
what a reader can take in, or by a private score.
"""

import matplotlib.pyplot as plt

from sparsedp import SparseLogisticRegression, evaluate
from sparsedp.data.synthetic import wang_zhang

made = wang_zhang(10_000, 50, seed=1)
model = SparseLogisticRegression(
    epsilon=1.0, delta=1e-6, bounds=(-1, 1), classes=[0, 1], n_nonzero=15, random_state=0
).fit(made.X[:8_000], made.y[:8_000])

ax = model.path_.plot()
ax.set_title("Effects as features enter, the strongest first")

# %%
# Other people's records score each model of the path. Every score has a price, so three are
# looked at, not fifteen.

fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
for k in (2, 5, 10):
    scores = evaluate(
        model.path_.model(k), made.X[8_000:], made.y[8_000:], epsilon=0.5, random_state=k
    )
    auc = scores["AUC"]
    ax.errorbar(
        k, auc.value, yerr=[[auc.value - auc.lower], [auc.upper - auc.value]], fmt="o", capsize=4
    )
ax.set(xlabel="features", ylabel="AUC, epsilon = 0.5 each", title="Private scores along the path")

"""
What epsilon costs
==================

The same records, budgets from 0.05 to 8, two sizes of the table. What is lost at a small epsilon
is won back by records.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from sparsedp import SparseLogisticRegression
from sparsedp.data.synthetic import sparse_glm

made = sparse_glm(24_000, 40, 5, seed=12)
new_X, new_y = made.X[20_000:], made.y[20_000:]
epsilons = [0.05, 0.2, 1.0, 8.0]

fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for n, color in ((2_000, "tab:orange"), (20_000, "tab:blue")):
    X, y = made.X[:n], made.y[:n]
    scores = np.empty((len(epsilons), 3))
    for i, epsilon in enumerate(epsilons):
        for run in range(3):
            model = SparseLogisticRegression(
                epsilon=epsilon,
                delta=1e-6,
                bounds=(-1, 1),
                classes=[0, 1],
                n_nonzero=5,
                shapes="linear",
                random_state=run,
            ).fit(X, y)
            scores[i, run] = roc_auc_score(new_y, model.decision_function(new_X))
    ax.plot(epsilons, scores.mean(axis=1), "o-", color=color, label=f"private, {n:,} records")
    ax.plot(np.repeat(epsilons, 3), scores.ravel(), ".", color=color, alpha=0.5)
    plain = LogisticRegression(C=np.inf).fit(X, y)
    auc = roc_auc_score(new_y, plain.decision_function(new_X))
    ax.axhline(auc, color=color, linestyle="--", linewidth=1)
ax.set(xscale="log", xlabel="epsilon", ylabel="AUC on new records", title="Dashed: not private")
ax.legend(frameon=False)

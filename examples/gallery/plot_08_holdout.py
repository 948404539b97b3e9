"""
Scores that may be printed
==========================

A secret coin keeps a fifth of the people out of the fit; they score the model. Model and scores
together cost the epsilon of the fit, for nobody is in both.
"""

import matplotlib.pyplot as plt

from sparsedp import SparseLogisticRegression
from sparsedp.data.synthetic import sparse_glm

made = sparse_glm(20_000, 15, 3, seed=8)
model = SparseLogisticRegression(
    epsilon=1.0,
    delta=1e-6,
    bounds=(-1, 1),
    classes=[0, 1],
    n_nonzero=3,
    shapes="linear",
    holdout=0.2,
    random_state=0,
).fit(made.X, made.y)
print(model.evaluation_)

# %%
# Curves follow from the same noisy table.

roc, calibration = (model.evaluation_.curves[name] for name in ("roc", "calibration"))
fig, axes = plt.subplots(1, 2, figsize=(8.4, 3.8), layout="constrained")
axes[0].plot(roc["false positive rate"], roc["true positive rate"], "o-", markersize=3)
axes[0].set(xlabel="false positives", ylabel="true positives", title="ROC")
axes[1].plot(calibration["predicted"], calibration["observed"], "o")
axes[1].set(xlabel="predicted", ylabel="observed", title="calibration")
for ax in axes:
    ax.plot([0, 1], [0, 1], color="0.7", linewidth=0.8)
    ax.set_aspect("equal")

"""
Three classes
=============

Which of three wards will a patient need? One fit, one budget, three columns of coefficients.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparsedp import SparseLogisticRegression
from sparsedp.data.synthetic import sparse_glm

made = sparse_glm(12_000, 20, 3, "multinomial", seed=3)
wards = np.array(["heart", "lung", "bone"])
model = SparseLogisticRegression(
    epsilon=2.0,
    delta=1e-6,
    bounds=(-1, 1),
    classes=wards,
    n_nonzero=9,
    shapes="linear",
    random_state=0,
).fit(made.X, wards[made.y])

fig, axes = plt.subplots(2, 1, figsize=(8, 3.6), sharex=True, layout="constrained")
centered = made.weights.T - made.weights.T.mean(axis=0)  # only differences between classes count
order = [list(model.classes_).index(ward) for ward in wards]
for ax, table, title in ((axes[0], centered, "truth"), (axes[1], model.coef_[order], "private")):
    image = ax.imshow(table, cmap="RdBu_r", vmin=-3, vmax=3, aspect="auto")
    ax.set_yticks(range(3), wards)
    ax.set_title(title, loc="left")
axes[1].set_xlabel("feature")
axes[1].set_xticks(range(0, 20, 2))
bar = fig.colorbar(image, ax=axes, label="coefficient")

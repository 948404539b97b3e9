"""
A private model beside one without privacy
==========================================

Twelve of sixty features matter. Both models see the same 6,000 records; one of them may be
published.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from sparsedp import SparseLogisticRegression
from sparsedp.data.synthetic import sparse_glm

made = sparse_glm(8_000, 60, 12, seed=4)
X, y, new_X, new_y = made.X[:6_000], made.y[:6_000], made.X[6_000:], made.y[6_000:]

# %%
# The private model needs a budget, limits of the features and the classes: all public.

private = SparseLogisticRegression(
    epsilon=1.0, delta=1e-6, bounds=(-1, 1), classes=[0, 1], n_nonzero=12, random_state=0
).fit(X, y)
plain = LogisticRegression(C=np.inf).fit(X, y)
print(f"accuracy: private {private.score(new_X, new_y):.3f}, plain {plain.score(new_X, new_y):.3f}")

# %%
# Coefficients that do not matter are exactly zero in the private model: it kept twelve features,
# chosen with noise.

fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="constrained")
for ax, model, title in (
    (axes[0], plain, "not private"),
    (axes[1], private, "private, epsilon = 1"),
):
    true = made.weights != 0
    places = np.arange(60)
    ax.vlines(places, 0, model.coef_[0], color=np.where(true, "tab:blue", "tab:gray"), linewidth=2)
    ax.plot(
        places[true], made.weights[true], "o", mfc="none", color="tab:orange", label="the truth"
    )
    ax.axhline(0, color="0.6", linewidth=0.8)
    ax.set(title=f"{title}: {np.count_nonzero(model.coef_)} features", xlabel="feature")
axes[0].set_ylabel("coefficient")
axes[0].legend(loc="lower left", frameon=False)

# %%
# A seed makes this picture repeatable, and the model not private: its record says so.

print(private.privacy_.statement())

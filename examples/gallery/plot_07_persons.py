"""
Several rows per person
=======================

Some patients come once, some come twelve times. With ids the guarantee is for a patient with all
rows; without, whoever has twelve rows is protected twelve times less.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparsedp import SparseLogisticRegression

random = np.random.default_rng(7)
n_persons = 6_000
n_rows = random.choice([1, 2, 4, 12], n_persons, p=[0.5, 0.25, 0.15, 0.1])
who = np.repeat(np.arange(n_persons), n_rows)
X = random.uniform(-1, 1, (len(who), 8))
y = random.random(len(who)) < 1 / (1 + np.exp(-2 * X[:, 0] + 1.5 * X[:, 1]))
settings = dict(
    epsilon=1.0, delta=1e-6, bounds=(-1, 1), classes=[False, True], n_nonzero=2, random_state=0
)

by_rows = SparseLogisticRegression(**settings).fit(X, y)
by_persons = SparseLogisticRegression(**settings).fit(X, y, groups=who)
print(by_persons.privacy_.statement())

# %%
# What epsilon is left to a person with so many rows, and what the two models found.

fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
rows = np.arange(1, 13)
axes[0].plot(rows, rows * 1.0, "o-", label="rows are protected")
axes[0].plot(rows, np.ones(12), "s-", label="persons are protected")
axes[0].set(xlabel="rows of a person", ylabel="epsilon for this person")
axes[0].legend(frameon=False)
places = np.arange(8)
axes[1].bar(places - 0.2, by_rows.coef_[0], 0.4, label="rows")
axes[1].bar(places + 0.2, by_persons.coef_[0], 0.4, label="persons")
axes[1].plot([0, 1], [2, -1.5], "k_", markersize=18, label="truth")
axes[1].set(xlabel="feature", ylabel="coefficient")
axes[1].legend(frameon=False)

"""
How many records does it take?
==============================

A plan foretells the quality of a fit from public numbers: no record is read and nothing is
charged.
"""

import matplotlib.pyplot as plt

from sparsedp import plan

numbers = dict(n_features=30, delta=1e-6, ceiling=(0.80, 0.86), rate=0.2)
print(plan(n_records=20_000, epsilon=1.0, **numbers))

# %%
# Quality over the budget, for registries of three sizes. The band is from the promise, which
# holds in 19 of 20 cases, to the middle.

fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for n_records in (1_000, 5_000, 50_000):
    expected = plan(n_records=n_records, epsilon=1.0, **numbers)
    epsilons = [epsilon for epsilon, _ in expected.by_epsilon]
    (line,) = ax.plot(
        epsilons, [band.expected for _, band in expected.by_epsilon], label=f"{n_records:,} records"
    )
    ax.fill_between(
        epsilons,
        [band.at_least for _, band in expected.by_epsilon],
        [band.expected for _, band in expected.by_epsilon],
        color=line.get_color(),
        alpha=0.2,
    )
ax.set(
    xscale="log", xlabel="epsilon", ylabel="AUC", title="30 columns, 0.80 to 0.86 without privacy"
)
ax.legend(frameon=False, loc="lower right")

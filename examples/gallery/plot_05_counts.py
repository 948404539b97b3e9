"""
Counts, with different exposure
===============================

Visits to a doctor, of people who were insured for different times: Poisson regression with the
logarithm of the time as an offset. A declared largest count keeps one frequent visitor from
drowning the rest.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparsedp import Bounds, SparsePoissonRegressor

random = np.random.default_rng(5)
n = 20_000
age = random.uniform(20, 90, n)
chronic = random.random(n) < 0.2
years = random.uniform(0.25, 2, n)
rate = np.exp(0.2 + 0.015 * (age - 20) + 0.7 * chronic)
visits = random.poisson(rate * years)

model = SparsePoissonRegressor(
    epsilon=1.0,
    delta=1e-6,
    bounds=Bounds(lower=[18, 0], upper=[100, 1], features=["age", "chronic"], binary=["chronic"]),
    max_count=40,
    offset_bounds=(np.log(0.25), np.log(2)),
    shapes="linear",
    random_state=0,
).fit(np.column_stack([age, chronic]), visits, offset=np.log(years))

# %%
# Predictions without an offset are for one year.

ages = np.linspace(20, 90, 50)
fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for ill, color in ((0, "tab:blue"), (1, "tab:red")):
    told = model.predict(np.column_stack([ages, np.full(50, ill)]))
    ax.plot(ages, told, color=color, label="chronic" if ill else "not chronic")
    ax.plot(ages, np.exp(0.2 + 0.015 * (ages - 20) + 0.7 * ill), "--", color=color)
ax.set(xlabel="age", ylabel="visits a year", title="Private model (solid) and truth (dashed)")
ax.legend(frameon=False)

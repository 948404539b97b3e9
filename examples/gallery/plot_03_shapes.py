"""
Effects that are not lines
==========================

Risk is lowest at a middling weight and rises with age only late: lines miss both. The model finds
out from released counts alone that it can afford to bend.
"""

import numpy as np

from sparsedp import Bounds, SparseLogisticRegression

random = np.random.default_rng(2)
n = 30_000
age = random.uniform(18, 100, n)
bmi = np.clip(random.normal(27, 6, n), 12, 60)
pressure = np.clip(random.normal(130, 20, n), 70, 240)
noise = random.uniform(0, 1, n)
margin = -2 + 0.06 * np.maximum(age - 65, 0) + 0.012 * (bmi - 27) ** 2 + 0.01 * (pressure - 130)
sick = random.random(n) < 1 / (1 + np.exp(-margin))

model = SparseLogisticRegression(
    epsilon=2.0,
    delta=1e-6,
    bounds=Bounds(
        lower=[18, 10, 60, 0],
        upper=[110, 70, 260, 1],
        features=["age", "bmi", "pressure", "noise"],
    ),
    classes=[False, True],
    random_state=0,
).fit(np.column_stack([age, bmi, pressure, noise]), sick)

# %%
# Each panel is what a feature adds to the log-odds. What they show was released: no record can be
# read off a curve.

figure = model.plot_shapes()

# %%
# ``monotone`` forbids falling where subject knowledge does, at no charge.

rising = SparseLogisticRegression(
    **{**model.get_params(), "monotone": {0: "increasing", 2: "increasing"}}
).fit(np.column_stack([age, bmi, pressure, noise]), sick)
figure = rising.plot_shapes()

# %%
# Effects need not only add up: here pressure harms the old and spares the young. A *pair* of
# features has a term more, at no further charge; in ``plot_shapes`` each of the two is drawn with
# the other one in the middle of its limits. (``shapes="additive"`` and ``monotone`` do without.)

margin += 0.001 * (age - 59) * (pressure - 130)
sick = random.random(n) < 1 / (1 + np.exp(-margin))
together = SparseLogisticRegression(**model.get_params()).fit(
    np.column_stack([age, bmi, pressure, noise]), sick
)
figure = together.plot_interactions()

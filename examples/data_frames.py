"""Bounds by name, three classes, and a pipeline: data frames work as in scikit-learn."""

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sparsedp import Bounds, SparseLogisticRegression

random = np.random.default_rng(0)
n = 20_000
frame = pd.DataFrame(
    {
        "age": random.integers(18, 90, n),
        "income": random.lognormal(10, 1, n),
        "visits": random.poisson(3, n),
        "noise": random.normal(size=n),
    }
)
risk = frame["age"] / 30 + frame["visits"] / 2
label = pd.cut(risk, [-np.inf, 2.5, 4, np.inf], labels=["low", "medium", "high"]).astype(str)

bounds = Bounds(
    lower=[18, 0, 0, -5], upper=[90, 13, 15, 5], features=["age", "income", "visits", "noise"]
)
# A transformation that looks at no other record, such as a logarithm, needs no budget.
model = make_pipeline(
    FunctionTransformer(lambda table: table.assign(income=np.log1p(table["income"]))),
    SparseLogisticRegression(
        epsilon=2.0,
        delta=1e-6,
        bounds=bounds,
        n_nonzero=2,
        classes=["high", "low", "medium"],
    ),
).fit(frame, label)

print(pd.DataFrame(model[-1].coef_, index=model[-1].classes_, columns=frame.columns).round(3))
print(model[-1].privacy_.statement())

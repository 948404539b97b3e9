"""The picture of README.md: ``python docs/pictures/private_beside_plain.py`` draws it anew.

The demo's registry, fitted without privacy and privately (epsilon = 1, for whole patients): what
three features add to the log-odds of coming back.
"""

import csv
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

from sparsedp import Schema, SparseLogisticRegression
from sparsedp.cli.demo.registry import write_registry

PICTURE = Path(__file__).parent / "private_beside_plain.svg"
FEATURES = ("age", "bmi", "earlier_stays")

with tempfile.TemporaryDirectory() as folder:
    path, declared = write_registry(Path(folder), seed=0)
    schema = Schema.from_toml(declared)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
table = {name: [row[name] for row in rows] for name in rows[0]}
models = {
    words: SparseLogisticRegression(epsilon=epsilon, delta=1e-6, schema=schema, random_state=1).fit(
        table
    )
    for words, epsilon in (("not private", float("inf")), ("private, epsilon = 1", 1.0))
}

plt.rcParams |= {"svg.hashsalt": "sparsedp", "font.size": 9, "axes.spines.right": False}
figure, axes = plt.subplots(1, 3, figsize=(8, 2.6), sharey=True, layout="constrained")
for ax, feature in zip(axes, FEATURES, strict=True):
    for (words, model), color, width in zip(
        models.items(), ("#9aa5b1", "#1f6feb"), (4, 1.8), strict=True
    ):
        shape = model.shape_(feature)
        ax.plot(
            shape.knots,
            shape.values - shape.values.mean(),
            color=color,
            linewidth=width,
            label=words,
        )
    ax.set_xlabel(feature.replace("_", " "))
    ax.spines["top"].set_visible(False)
axes[0].set_ylabel("added to the log-odds")
axes[0].legend(frameon=False, fontsize=8)
figure.savefig(PICTURE, metadata={"Date": None}, facecolor="white")

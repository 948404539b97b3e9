"""
The same model in a database
============================

A published model is some numbers per feature. ``export`` writes them as a query; SQLite and
Python agree to the last digits.
"""

import sqlite3

import matplotlib.pyplot as plt
import numpy as np

from sparsedp import Schema, SparseLogisticRegression
from sparsedp.release import PublishedModel
from sparsedp.release.export.export import export

schema = Schema.from_toml("""
[target]
column = "returned"
classes = ["no", "yes"]
[features.age]
lower = 18
upper = 100
missing = "indicator"
[features.sex]
categories = ["F", "M"]
""")
random = np.random.default_rng(13)
ages = random.integers(18, 95, 8_000)
men = random.random(8_000) < 0.5
back = random.random(8_000) < 1 / (1 + np.exp(-(0.05 * (ages - 60) + 0.6 * men)))
table = {
    "age": ["" if gone else str(age) for age, gone in zip(ages, random.random(8_000) < 0.1)],
    "sex": ["M" if man else "F" for man in men],
    "returned": ["yes" if one else "no" for one in back],
}
model = SparseLogisticRegression(epsilon=1.0, delta=1e-6, schema=schema, random_state=0).fit(table)
published = PublishedModel.from_estimator(model, target_name="returned")
query = export(published, "sql", dialect="sqlite", table="patients")
print(query[:700], "...")

# %%
# Two hundred patients, scored by both.

some = [
    (None if not age else int(age), sex) for age, sex in zip(table["age"][:200], table["sex"][:200])
]
with sqlite3.connect(":memory:") as database:
    database.execute("create table patients (age integer, sex text)")
    database.executemany("insert into patients values (?, ?)", some)
    found = database.execute(query)
    place = [column[0] for column in found.description].index("probability of yes")
    by_sql = np.array([row[place] for row in found])
first = {name: table[name][:200] for name in ("age", "sex")}
by_python = model.predict_proba(first)[:, 1]
print("largest difference:", np.abs(by_sql - by_python).max())

fig, ax = plt.subplots(figsize=(4.2, 4), layout="constrained")
ax.plot([0, 1], [0, 1], color="0.7", linewidth=0.8)
ax.plot(by_python, by_sql, ".")
ax.set(xlabel="Python", ylabel="SQLite", title="Probability of coming back")

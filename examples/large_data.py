"""A Parquet file that is read block by block: the records are never in memory all at once."""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sparsedp import RecordBlocks, SparseLogisticRegression

random = np.random.default_rng(0)
names = [f"test_{j}" for j in range(20)]
schema = pa.schema([*((name, pa.float64()) for name in names), ("ill", pa.int8())])

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "records.parquet"
    with pq.ParquetWriter(path, schema) as writer:
        for _ in range(5):  # five row groups of 10,000 records
            X = random.random((10_000, 20))
            ill = 4 * X[:, 3] - 3 * X[:, 7] + random.logistic(size=10_000) > 0.5
            writer.write_table(pa.table([*X.T, ill.astype(np.int8)], schema=schema))

    records = RecordBlocks.from_parquet(path, target="ill", rows_per_block=10_000)
    model = SparseLogisticRegression(
        epsilon=1.0, delta=1e-6, bounds=(0, 1), classes=(0, 1), n_nonzero=2
    ).fit(records)

for j in np.flatnonzero(model.coef_):
    print(f"{model.feature_names_in_[j]:8} {model.coef_[0, j]:6.2f}")
print(model.privacy_.statement())

"""The gate: the only entrance to private data (gate.md).

Cells, labels and sparse entries are read one by one, then clipped, shrunk and mapped by public
promises. Whatever one record contains, every other record comes out bit for bit the same.
"""

from sparsedp.data.gate.cells import Invalid
from sparsedp.data.gate.clip import check_finite, missing_values
from sparsedp.data.gate.containers import unwrapped
from sparsedp.data.gate.table import as_float64, check_type, column_names, numbers, shape_of
from sparsedp.data.gate.target import encode_labels, target_numbers, vector

__all__ = [
    "Invalid",
    "as_float64",
    "check_finite",
    "check_type",
    "column_names",
    "encode_labels",
    "missing_values",
    "numbers",
    "shape_of",
    "target_numbers",
    "unwrapped",
    "vector",
]

"""What is private and what is promised: records behind the gate, and public bounds on them.

`Dataset` holds records in memory, `RecordBlocks` reads them block by block; solvers ask both for
what `Records` promises. What users hand in has a type only once it has passed the gate (raw.py).
"""

from sparsedp.data.blocks.blocks import RecordBlocks
from sparsedp.data.bounds import Bounds, UnitMap
from sparsedp.data.dataset import Dataset
from sparsedp.data.files.readers import Table, read_header, read_table

__all__ = ["Bounds", "Dataset", "RecordBlocks", "Table", "UnitMap", "read_header", "read_table"]

"""What is private, what is promised: bounds, the gate, readers and synthetic sets."""

from sparsedp.data.blocks.blocks import RecordBlocks
from sparsedp.data.bounds import Bounds, UnitMap
from sparsedp.data.dataset import Dataset
from sparsedp.data.files.readers import Table, read_header, read_table

__all__ = ["Bounds", "Dataset", "RecordBlocks", "Table", "UnitMap", "read_header", "read_table"]

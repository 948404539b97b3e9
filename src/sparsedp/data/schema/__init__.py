"""From raw tables to bounded columns, record by record (schema.md).

`Schema` is the declaration as a whole; each kind of column has a file of its own.
"""

from sparsedp.data.schema.kinds.category import Category, YesNo
from sparsedp.data.schema.kinds.cyclic import Cyclic
from sparsedp.data.schema.kinds.date import Date
from sparsedp.data.schema.kinds.number import Number
from sparsedp.data.schema.kinds.text import Text
from sparsedp.data.schema.kinds.writing import Writing
from sparsedp.data.schema.roles import Offset, Person, Target, Weight
from sparsedp.data.schema.schema import Schema
from sparsedp.data.schema.stored import Shared

__all__ = [
    "Category",
    "Cyclic",
    "Date",
    "Number",
    "Offset",
    "Person",
    "Schema",
    "Shared",
    "Target",
    "Text",
    "Weight",
    "Writing",
    "YesNo",
]

"""The text of a schema file that is to be filled in."""

from collections.abc import Mapping, Sequence

from sparsedp.data.raw import Unchecked
from sparsedp.data.schema.tables import quoted
from sparsedp.data.schema.toml import value

HEAD = """\
# What is promised about the records in {name}: a schema, to be filled in.
#
# Everything here is published with the model, and limits set the noise. Take it from knowledge of
# the domain or from a code book (an age is at most 120), NEVER from the records themselves: a limit
# that was read off the data reveals the most extreme person in it. Values beyond are clipped.

# Who is protected? The guarantee is for one person's rows together, or for single rows.
"""
PERSON = """\
[person]
column = {column}
"""
ROW = 'unit = "row"        # every row is somebody else\'s\n'
UNIT = """\
unit = "?"          # "row" if every row is somebody else's; else delete this line, and say whose
# [person]          # a row is by the column of an id:
# column = "..."
"""
TARGET = """
[target]
{column}
"""
TARGET_OPEN = """\
# Required: either the label set (as the file writes it) ...
# classes = ["no", "yes"]
# ... or, for a number, its limits:
# lower = ?
# upper = ?
# ... or, for a count, the largest that matters:
# max_count = ?
"""
REST = """
# How numbers are written, if not as 1234.5; a feature may say otherwise.
# [numbers]
# decimal = ","
# thousands = "."

# For every feature that has no limits of its own.
[bounds]
# lower = ?
# upper = ?
"""
FEATURES = """
# Single features. Uncomment the table of a column, and say one of
#   lower = 0, upper = 120          a number and its limits; kind = "whole" if it is whole
#   categories = ["red", "green"]   text or codes: each value becomes a 0/1 feature
#   kind = "yes_no"                 yes or no, true or false, 1 or 0; or yes = ["Y"], no = ["N"]
#   kind = "date", lower = 2000-01-01, upper = 2030-12-31, format = "%d.%m.%Y"
#   kind = "cyclic", period = 24    an hour, a month, an angle
#   kind = "text", words = 256      free text, as hashed words
#   drop = true                     leave the column out
# and, where cells may be empty or hold something else,
#   missing = "indicator"           a 0/1 feature that says so; or a value in their place
#   other = true                    a 0/1 feature for values that are not among the categories
"""
OPEN = """
# [features.{name}]
# lower = ?
# upper = ?
"""


def template(
    name: str,
    columns: Sequence[str],
    *,
    target: str | None,
    person: str | None,
    unit: str | None,
    book: Mapping[str, Mapping[str, Unchecked]],
) -> str:
    """The file for the columns of a table; what the code book says is filled in.

    Parameters
    ----------
    name : str
        Of the data.
    columns : sequence of str
    target, person : str, optional
        Columns, if they are known.
    unit : {"row"}, optional
    book : mapping
        Tables by name of column.
    """
    who = PERSON.format(column=value(person)) if person is not None else ROW if unit else UNIT
    text = HEAD.format(name=name) + who
    column = '# column = "..."' if target is None else f"column = {value(target)}"
    text += TARGET.format(column=column)
    said = {} if target is None else _target(book.get(target, {}))
    text += "".join(f"{key} = {value(v)}\n" for key, v in said.items()) if said else TARGET_OPEN
    text += REST
    text += FEATURES if columns else ""
    for column in columns:
        if column in (target, person):
            continue
        if column in book:
            text += f"\n[features.{quoted(column)}]\n"
            text += "".join(f"{key} = {value(v)}\n" for key, v in book[column].items())
        else:
            text += OPEN.format(name=quoted(column))
    return text


def _target(table: Mapping[str, Unchecked]) -> dict[str, Unchecked]:
    """What a code book says about the column that is to be predicted."""
    if "categories" in table:
        return {"classes": table["categories"]}
    return {key: table[key] for key in ("lower", "upper") if key in table}

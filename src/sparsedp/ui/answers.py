"""What a person has said on the page, as text: what is right, the commands decide."""

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path

STEPS = {
    "file": "File",
    "unit": "Protection",
    "schema": "Schema",
    "plan": "Plan",
    "price": "Price",
    "fit": "Fit",
    "result": "Results",
}
"""Names of the steps in their order, and how the page calls them."""


class Unreadable(ValueError):
    """What lies in the page's folder, and is not of this page or of this version."""


@dataclass(frozen=True, kw_only=True)
class Answers:
    """All that was said; what is empty was not.

    Parameters
    ----------
    data, encoding, delimiter, sheet : str
        The file, relative to the folder of the page, and how it is written.
    columns : tuple of str
        Its header, as ``sparsedp init`` told it.
    unit : {"", "row", "person"}
    person, target : str
        Columns.
    neighbors, invalid : str
        As the options of a fit.
    codebook : str
        A file of the person's own.
    filled : bool
        Whether the form of columns was saved: then it is the code book.
    as_text : bool
        Whether the schema was edited as text since.
    is_count : bool
        Whether the target counts something.
    epsilon, delta, n_nonzero, records, ceiling, rate, holdout : str
    intervals, allow_unmatched, yes : bool
    ledger, ledger_epsilon, ledger_delta, who : str
    reached : str
        The first step that is not done.
    """

    data: str
    encoding: str = "utf-8"
    delimiter: str = ""
    sheet: str = ""
    columns: tuple[str, ...] = ()
    unit: str = ""
    person: str = ""
    neighbors: str = "add_remove"
    target: str = ""
    codebook: str = ""
    filled: bool = False
    as_text: bool = False
    is_count: bool = False
    epsilon: str = "1"
    delta: str = "1e-6"
    n_nonzero: str = ""
    records: str = ""
    ceiling: str = ""
    rate: str = ""
    holdout: str = "0.2"
    intervals: bool = False
    ledger: str = ""
    ledger_epsilon: str = "3"
    ledger_delta: str = "1e-5"
    who: str = ""
    invalid: str = "raise"
    allow_unmatched: bool = False
    yes: bool = False
    reached: str = "unit"

    def to_json(self) -> str:
        """As it is stored."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False)

    @classmethod
    def read(cls, path: Path) -> "Answers":
        """From its file, which somebody may have edited."""
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            known = {field.name for field in fields(cls)}
            given = {name: value for name, value in stored.items() if name in known}
            given["columns"] = tuple(str(name) for name in given.get("columns", ()))
            found = cls(**given)
        except (OSError, ValueError, TypeError, AttributeError):
            raise Unreadable(f"{path} is no journey that this version can read") from None
        kinds = {field.name: type(field.default) for field in fields(cls)} | {"data": str}
        well = all(isinstance(getattr(found, name), kind) for name, kind in kinds.items())
        if not well or found.reached not in STEPS:
            raise Unreadable(f"{path} is no journey that this version can read")
        return found

    def can_see(self, step: str) -> bool:
        """Whether all steps before this one are done."""
        names = list(STEPS)
        return names.index(step) <= names.index(self.reached)

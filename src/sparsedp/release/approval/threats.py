"""The threat model of one release in a paragraph: who is trusted, and who can learn what."""

from sparsedp.privacy.verdict import labels_from_data
from sparsedp.release.document import Record

HIDDEN = {
    ("add_remove", "row"): "whether any one row was in the table, nor what it says.",
    ("replace_one", "row"): "what any one row says. That it was in the table, and how many rows "
    "there were, is taken as known.",
    ("add_remove", "person"): "whether any one person was in the table, nor what the rows of that "
    "person say or how many they are.",
    ("replace_one", "person"): "what the rows of any one person say or how many they are. That the "
    "person was in the table, and how many persons there were, is taken as known.",
}
"""What a reader cannot tell, by neighbors and unit."""

LESS = {
    "row": "somebody with several rows (k rows are protected k times less)",
    "person": "somebody with several ids, or families (k ids are protected k times less)",
}

NOTHING = (
    "There is nobody against whom this holds. The file proves no protection: treat the model like "
    "the records that it was fitted to."
)


def threat_model(record: Record, *, guaranteed: bool) -> str:
    """Who is trusted with what, and what readers can learn, in one paragraph.

    Parameters
    ----------
    record : Record
    guaranteed : bool
        Whether an epsilon is proven at all.

    Privacy
    -------
    Says what the record says: its unit, its neighbors, its ledger, and where its labels are from.
    """
    if not guaranteed:
        return NOTHING
    unit, neighbors = record.get("unit", "row"), record["neighbors"]
    charged = record.get("ledger")
    ledger = "this fit names none" if charged is None else f"this fit is line {charged['line']}"
    labels = ", and the label set, which was read from the records" * labels_from_data(record)
    return (
        f"Trusted is whoever holds the records and runs the fit: to declare limits, labels and "
        f"settings without looking at the records, to charge all that is released about the same "
        f"{unit}s to one ledger ({ledger}), and to keep records, memory, clock and terminal of the "
        f"machine to themselves. Nobody else is trusted. A reader may know this page, the model "
        f"file, the code and all about every other {unit}, and may have added {unit}s to the "
        f"table; beyond the odds given here, and except with a probability of about delta, such a "
        f"reader still cannot tell {HIDDEN[neighbors, unit]} Readers do learn what holds for many, "
        f"and what was declared{labels}. Not covered are {LESS[unit]}, how long the fit took, how "
        f"much memory it used and what it printed, and whatever else was published about the same "
        f"{unit}s."
    )

"""What a record may be called: one verdict for terminal, report, JSON and Python.

It follows from the listed releases, counted anew, and from the settings. A record's own flag,
statement and ``proven_epsilon`` are never looked at.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sparsedp.privacy.plain import Stored
from sparsedp.privacy.recount import recounted_epsilon

Level = Literal[
    "private",
    "weak",
    "labels",
    "advisory",
    "nominal",
    "published",
    "seeded",
    "none",
    "contradicted",
]

ALMOST_SAME = 1.0
"""Up to this epsilon, outcomes are called almost as probable with a record as without."""

WEAK_EPSILON, WEAK_DELTA = 5.0, 1e-4
"""Above either the guarantee is called weak (amber)."""

NOMINAL_EPSILON, NOMINAL_DELTA = 10.0, 1e-3
"""Above either it is there on paper only (red): the model is not called private."""

ROUNDING = 1e-9
"""By this part a recounted epsilon may exceed the stated one: both are sums in floating point."""

COLORS = {"private": "green", "weak": "amber", "labels": "amber", "advisory": "amber"}
HEADLINES: dict[Level, str] = {
    "private": "PRIVATE as stated",
    "weak": "PRIVATE as stated, but weakly",
    "labels": "LABELS NOT PROTECTED",
    "advisory": "IN DOUBT: made by a version with known faults",
    "nominal": "NO MEANINGFUL PROTECTION",
    "published": "NOT PRIVATE: published calibration",
    "seeded": "NOT PRIVATE: seeded",
    "none": "NOT PRIVATE",
    "contradicted": "NOT PROVEN: do not rely on this file",
}
"""From the best level to the worst."""

WHOM = {
    "add_remove": {
        "row": "with or without any one row",
        "person": "with or without any one person, with all rows of that person",
        None: "with or without any one record",
    },
    "replace_one": {
        "row": "whatever any one row says (the number of rows is public)",
        "person": "whatever the rows of any one person say (the number of persons is public)",
        None: "whatever any one record says (the number of records is public)",
    },
}
"""By the unit that was declared; files from before there were units do not say which."""

FOR_WHOM = {"row": " for rows, not for persons", "person": " for persons", None: ""}
LESS = {
    "row": "a person with several rows is protected less",
    "person": "one with several ids is protected less",
    None: "a person with several records is protected less",
}
LABELS = (
    "The label set was read from the records and is published as it is: it is outside the guarantee"
)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """How far the records behind a model are protected.

    Parameters
    ----------
    level : str
        "private", "weak" (proven, for an epsilon or delta that protects little), "nominal" (proven
        for numbers that protect nobody), "labels" (the label set was read from the records),
        "advisory" (made by version 0.1), "published" (a paper's noise), "seeded", "none" (no noise)
        or "contradicted" (the listed releases do not prove what is claimed).
    color : {"green", "amber", "red"}
    headline, statement : str
        In a few words, and in full.
    reasons : tuple of str
        Why it is not simply private; empty if it is.
    epsilon : float
        What the listed releases cost at the stated delta, counted anew.
    """

    level: Level
    statement: str
    reasons: tuple[str, ...]
    epsilon: float
    headline: str = field(init=False)
    color: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "headline", HEADLINES[self.level])
        object.__setattr__(self, "color", COLORS.get(self.level, "red"))

    @property
    def private(self) -> bool:
        """Whether every part of the model is protected as stated, in more than name."""
        return self.level in ("private", "weak")


def verdict_of(record: Stored) -> Verdict:
    """The verdict on a record.

    Parameters
    ----------
    record : mapping
        As ``PrivacyRecord.to_dict`` writes it, or as a model file holds it.

    Returns
    -------
    Verdict

    Notes
    -----
    *Privacy.* A record can still lie about what its list does not show: that noise was secret,
    that other neighbors were meant, that a release is missing. See ``docs/verify.md``.
    """
    if record["calibration"] == "none":
        why = EXACT_SCORES if of_scores(record) else EXACT
        return Verdict(level="none", statement=why, reasons=(why,), epsilon=math.inf)
    counted, doubt = math.inf, None
    try:
        counted = recounted_epsilon(
            record["events"],
            record["delta"],
            record["neighbors"],
            record["calibration"],
            unit=record.get("unit", "row"),
            rows_per_unit=_cap(record.get("solver", {})),
        )
    except ValueError as error:
        doubt = f"The list of releases cannot be right: {error}"
    level, reasons = _level(record, counted, doubt)
    return Verdict(
        level=level, statement=_statement(record, level, counted), reasons=reasons, epsilon=counted
    )


def _cap(solver: Stored) -> int | None:
    """How many rows of a person the settings of a solver let count; None if they do not say."""
    inner = solver.get("solver")
    if isinstance(inner, Mapping):
        return _cap(inner)  # a wrapper: what it wraps is what minimizes
    rows = solver.get("rows_per_person")
    return rows if isinstance(rows, int) and not isinstance(rows, bool) and rows >= 1 else None


def contradicted(verdict: Verdict, problems: Sequence[str]) -> Verdict:
    """The verdict on a file of which something does not hold: nothing in it is to be relied on."""
    if not problems:
        return verdict
    others = tuple(reason for reason in verdict.reasons if reason not in problems)
    return Verdict(
        level="contradicted",
        statement="Not proven: the file contradicts itself, or was changed after it was written.",
        reasons=(*problems, *others),
        epsilon=verdict.epsilon,
    )


WALKS = ("FrankWolfe", "Sparsifier", "Screened", "MultinomialLasso", "ScreenedFrankWolfe")
"""Solvers that walked by the faulty kernel of version 0.1."""

EXACT = "Not private: the model was fitted without noise (epsilon is infinite)."
EXACT_SCORES = "Not private: the scores were computed without noise (epsilon is infinite)."


def _level(record: Stored, counted: float, doubt: str | None) -> tuple[Level, tuple[str, ...]]:
    """The worst level that applies, and all reasons."""
    epsilon, delta = float(record["epsilon"]), float(record["delta"])
    found = _contradictions(record, counted, doubt)
    if record["seeded"]:
        found.append(
            (
                "seeded",
                "The noise came from a seed: whoever knows or guesses the seed can remove it. "
                "Fit again without a seed before publishing.",
            )
        )
    if record["calibration"] == "published":
        proven = f"epsilon = {counted:.4g} at delta = {delta:g}"
        found.append(
            (
                "published",
                f"The noise follows a paper's formula, which claims epsilon = {epsilon:g}; that "
                "claim is not proven. What our accountant can prove for this noise: "
                f"{proven if math.isfinite(counted) else 'nothing'}. "
                "Use calibration='sound' for a proven guarantee.",
            )
        )
    if labels_from_data(record):
        found.append(
            (
                "labels",
                f"{LABELS}. A label that only one record has shows that this record is there. "
                "Declare the set (classes=...) instead.",
            )
        )
    if made_by_0_1(record):
        found.append(("advisory", _advisory(record)))
    found += _beyond(max(epsilon, counted) if doubt is None else epsilon, delta)
    levels: list[Level] = ["private", *(level for level, _ in found)]
    return max(levels, key=list(HEADLINES).index), tuple(reason for _, reason in found)


def _contradictions(record: Stored, counted: float, doubt: str | None) -> list[tuple[Level, str]]:
    """Whether the listed releases prove what is stated."""
    epsilon = float(record["epsilon"])
    if doubt is not None:
        return [("contradicted", doubt + ".")]
    if record["calibration"] not in ("sound", "published"):
        return [("contradicted", "How the noise was set is not known.")]
    if record["calibration"] == "sound" and not counted <= epsilon * (1 + ROUNDING):
        return [
            (
                "contradicted",
                f"The listed releases cost epsilon = {counted:.4g}, more than the stated "
                f"{epsilon:g}: the record is damaged or was changed.",
            )
        ]
    return []


def _advisory(record: Stored) -> str:
    """What is known about a fit by version 0.1."""
    if record["solver"].get("name") in WALKS and record["solver"].get("mode") != "full":
        why = "this solver's noise could be wrong, so that the guarantee may not hold."
    else:
        why = (
            "for some kinds of tables, labels and grids the guarantee does not hold, and the file "
            "does not show whether this was one."
        )
    return f"Made by sparsedp 0.1, see the advisories in CHANGELOG.md: {why}"


def labels_from_data(record: Stored) -> bool:
    """Whether the label set was read from the records (files of before say taken_from_data)."""
    target = record["target"]
    return bool(target.get("classes_from_data", target.get("taken_from_data", False)))


def of_scores(record: Stored) -> bool:
    """Whether scores of a model were released, and not a model."""
    return record.get("solver", {}).get("name") == "evaluation"


def made_by_0_1(record: Stored) -> bool:
    """Whether the record was written by a version whose fits did not always keep their word."""
    return str(record.get("versions", {}).get("sparsedp", "")).startswith("0.1")


def _beyond(epsilon: float, delta: float) -> list[tuple[Level, str]]:
    """Numbers that protect little, or nobody."""
    found: list[tuple[Level, str]] = []
    if not epsilon <= WEAK_EPSILON:
        nominal = not epsilon <= NOMINAL_EPSILON
        found.append(
            (
                "nominal" if nominal else "weak",
                f"Epsilon is above {NOMINAL_EPSILON if nominal else WEAK_EPSILON:g}: the guarantee "
                f"is there on paper and protects {'nobody' if nominal else 'little'}.",
            )
        )
    if not delta <= WEAK_DELTA:
        nominal = not delta <= NOMINAL_DELTA
        found.append(
            (
                "nominal" if nominal else "weak",
                f"Delta is above {NOMINAL_DELTA if nominal else WEAK_DELTA:g}: it should be far "
                "below one over the number of records, or whole records may be revealed.",
            )
        )
    return found


def _statement(record: Stored, level: Level, counted: float) -> str:
    epsilon, delta = float(record["epsilon"]), float(record["delta"])
    if level == "contradicted":
        return (
            f"Not proven: ({epsilon:g}, {delta:g})-differential privacy is claimed, and the listed "
            "releases do not prove it."
        )
    whose = f"({epsilon:g}, {delta:g})-differential privacy{FOR_WHOM[record.get('unit')]}"
    claim = f"{whose}: {_promise(record, epsilon)}"
    if record["calibration"] == "published":
        proven = (
            "no epsilon is proven for it"
            if math.isinf(counted)
            else f"epsilon = {counted:.4g} is what we can prove for it"
        )
        claim = (
            f"Noise as a paper prints it, to reproduce the paper; {proven}. "
            f"Claimed by the paper: {claim}"
        )
    if labels_from_data(record):
        claim = f"{LABELS}. For all else: {claim}"
    if record["seeded"]:
        claim = f"Seeded: not private (for experiments only). With secret noise: {claim}"
    return claim + "."


def _promise(record: Stored, epsilon: float) -> str:
    """Colder as epsilon grows; whoever declared no persons protects rows."""
    unit, delta = record.get("unit"), float(record["delta"])
    whom, several = WHOM[record["neighbors"]][unit], LESS[unit]
    times = f"{float(f'{math.exp(epsilon):.3g}'):,.10g}" if epsilon < 20 else f"e^{epsilon:g}"
    thing = "table of scores" if of_scores(record) else "model"
    if not (epsilon <= NOMINAL_EPSILON and delta <= NOMINAL_DELTA):
        return (
            f"no meaningful protection, for a {thing} may be {times} times as probable {whom}, and "
            f"even that may fail with a probability of about {delta:g}; {several}"
        )
    if epsilon <= ALMOST_SAME:
        text = f"the {thing} would be published with almost the same probability {whom}"
    else:
        text = f"no {thing} is more than {times} times as probable {whom}"
    if delta > WEAK_DELTA:
        text += f", which may fail with a probability of about {delta:g}"
    return f"{text}; {several}"

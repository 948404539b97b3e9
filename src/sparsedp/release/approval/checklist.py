"""What an evaluation of a privacy claim asks (NIST SP 800-226), with the answers of one model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sparsedp.privacy.verdict import labels_from_data
from sparsedp.release.approval.charged import Charged
from sparsedp.release.card import Card
from sparsedp.release.declared import Declared, sources
from sparsedp.release.model import PublishedModel
from sparsedp.release.numbers import number

Basis = Literal["counted anew", "stated", "declared", "not declared", "yours to judge"]
"""Where an answer comes from: the file's releases, its record, the holder, nobody, the signer."""

CALIBRATED = {
    "sound": "noise by the library's own proof",
    "published": "noise by its paper's formula, not by a proof",
    "none": "no noise",
}

COLLECTED = "Did all have to be collected?"


@dataclass(frozen=True, kw_only=True)
class Item:
    """A question, what is known about this model, and who says so."""

    question: str
    answer: str
    basis: Basis


def checklist(
    model: PublishedModel,
    card: Card,
    columns: Sequence[Declared] | None,
    *,
    charged: Charged | None,
    exact_scores: bool,
) -> tuple[Item, ...]:
    """The questions from the top of the pyramid to its ground (docs/nist-sp-800-226.md).

    Parameters
    ----------
    model : PublishedModel
    card : Card
        Of the model, with the verdict of whoever verified it.
    columns : sequence of Declared, or None
        None for a model without a schema.
    charged : Charged, optional
        The line of the ledger that paid.
    exact_scores : bool
        Whether scores without noise stand on the same page.

    Privacy
    -------
    Says what the model file and the ledger say, and nothing else.
    """
    return (
        *_guarantee(card),
        _uses(model, charged),
        _other_releases(model, exact_scores=exact_scores),
        _algorithm(model, card),
        _declarations(model, columns),
        _utility(model),
        Item(
            question="Bias",
            answer="No scores by group are in the file; noise is felt most by small groups.",
            basis="yours to judge",
        ),
        _noise(model, card),
        Item(
            question="Trust and queries",
            answer="Central: the holder is trusted with the records, readers with nothing. One "
            "release, and no queries after it.",
            basis="stated",
        ),
        Item(
            question="Security and access",
            answer="Who can read the records, the ledger and the keys is not known here.",
            basis="yours to judge",
        ),
        _collection(model, columns),
    )


def _guarantee(card: Card) -> Iterator[Item]:
    yield Item(
        question="Epsilon and delta",
        answer=f"At most epsilon = {number(card.epsilon)}, delta = {number(card.delta)} for all "
        "listed releases together."
        if card.odds
        else "None is proven.",
        basis="counted anew",
    )
    yield Item(
        question="Size of delta",
        answer=f"Is it far below one in the number of {card.unit}s? No file has that number.",
        basis="yours to judge",
    )
    persons = card.unit == "person"
    yield Item(
        question="Unit of privacy",
        answer="One person: all rows with the same id together."
        if persons
        else "One row. Whoever has several is protected less: has anybody?",
        basis="stated" if persons else "yours to judge",
    )
    yield Item(
        question="Neighboring tables",
        answer=f"{card.compares[0].upper()}{card.compares[1:]}.",
        basis="stated",
    )


def _uses(model: PublishedModel, charged: Charged | None) -> Item:
    question = "All uses together"
    if charged is not None:
        (epsilon, delta), left = charged.budget, charged.left
        return Item(
            question=question,
            answer=f"Line {charged.line} of a ledger of epsilon = {number(epsilon)}, delta = "
            f"{number(delta)}, of which {number(left[0])} and {number(left[1])} are left. Uses "
            "outside of it are not counted.",
            basis="counted anew",
        )
    stated = model.privacy.get("ledger")
    if stated is None:
        return Item(
            question=question,
            answer="Charged to no ledger: costs of other uses add up, and nobody counts them.",
            basis="not declared",
        )
    return Item(
        question=question,
        answer=f"Line {stated['line']} of a ledger that was not at hand when this was written.",
        basis="stated",
    )


def _other_releases(model: PublishedModel, *, exact_scores: bool) -> Item:
    labels = "The label set was published as the records have it. " * labels_from_data(
        model.privacy
    )
    scores = "The exact scores on this page have no noise. " * exact_scores
    return Item(
        question="Other releases",
        answer=f"{labels}{scores}What else was published about the records is not known here.",
        basis="yours to judge",
    )


def _algorithm(model: PublishedModel, card: Card) -> Item:
    record, versions = model.privacy, card.versions
    kernels = f", kernels {versions['kernels']}" if "kernels" in versions else ""
    return Item(
        question="Algorithm",
        answer=f"{record['solver']['name']}: {CALIBRATED[record['calibration']]}. "
        f"sparsedp {versions.get('sparsedp', 'of an unknown version')}{kernels}. The verdict: "
        f"{card.verdict.headline}.",
        basis="counted anew",
    )


def _declarations(model: PublishedModel, columns: Sequence[Declared] | None) -> Item:
    labels = ""
    if model.classes is not None:
        from_data = labels_from_data(model.privacy)
        labels = f" Labels {'read from the records' if from_data else 'declared beforehand'}."
    said = columns is not None and all(column.source is not None for column in columns)
    return Item(
        question="Declarations",
        answer=f"Source of limits {sources(columns)}.{labels}",
        basis="declared" if said else "not declared",
    )


def _utility(model: PublishedModel) -> Item:
    known = ""
    if model.intervals is not None:
        known = " Coefficients have intervals."
    scores = {} if model.scores is None else model.scores.scores
    if not scores:
        return Item(
            question="Utility",
            answer=f"Not measured under the guarantee.{known}",
            basis="yours to judge",
        )
    name, score = next(iter(scores.items()))
    interval = f"{number(score.lower, 3)} to {number(score.upper, 3)}"
    return Item(
        question="Utility",
        answer=f"{name} {number(score.value, 3)} (95 % interval {interval}), measured privately on "
        f"those held out.{known}",
        basis="counted anew",
    )


def _noise(model: PublishedModel, card: Card) -> Item:
    if model.privacy["seeded"]:
        noise = "Noise came from a seed: whoever has it removes the noise."
    elif not card.odds:
        noise = "Nothing here rests on noise."
    else:
        noise = "Noise is secret and drawn exactly."
    return Item(
        question="Side channels",
        answer=f"{noise} Time and memory of the fit are not protected.",
        basis="stated",
    )


def _collection(model: PublishedModel, columns: Sequence[Declared] | None) -> Item:
    if columns is None:
        used = f"The model uses {len(model.features)} of {model.n_features:,} features."
    else:
        n_used = sum(column.used for column in columns)
        used = f"The model uses {n_used} of {len(columns)} declared columns."
    return Item(question="Collection", answer=f"{used} {COLLECTED}", basis="yours to judge")

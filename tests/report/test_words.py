"""Report and card speak of what is protected: rows or persons, never the one for the other."""

import re

import pytest

from sparsedp.release.export.card import write
from sparsedp.release.report import render_report
from tests.report.models import NEIGHBORS, UNITS, binary

pytestmark = pytest.mark.filterwarnings("ignore::sparsedp.TooFewRecords")

RIGHTLY = (
    "for rows, not for persons",
    "a person with several rows is protected less",
    "One person is one row",
    "the id of the person that each row belongs to",
    "to protect persons",
)
"""What is said of persons where the unit is a row."""


def text_of(page: str) -> str:
    """What a reader sees, in one line."""
    page = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("write_page", [render_report, write], ids=["report", "card"])
def test_rows_are_not_called_persons(write_page, neighbors):
    page = text_of(write_page(binary("row", neighbors)))
    assert "Measured on rows that were not in the fit" in page
    for sentence in RIGHTLY:
        page = page.replace(sentence, "")
    assert not re.findall(r".{40}[Pp]erson.{40}", page)


@pytest.mark.parametrize("unit", UNITS)
def test_those_who_chose_and_those_who_scored_are_units(unit):
    page = text_of(render_report(binary(unit)))
    assert f"A secret coin divided the {unit}s" in page
    assert f"Measured on {unit}s" in page
    assert f"name: {unit}s held out of the fit" in write(binary(unit))


HIDDEN = {
    ("row", "add_remove"): "whether any one row was in the table, nor what it says",
    ("row", "replace_one"): "what any one row says. That it was in the table",
    ("person", "add_remove"): "whether any one person was in the table, nor what the rows of",
    ("person", "replace_one"): "what the rows of any one person say or how many they are. That",
}


@pytest.mark.parametrize(("unit", "neighbors"), HIDDEN)
def test_the_threat_model_is_that_of_the_unit_and_its_neighbors(unit, neighbors):
    model = binary(unit, neighbors)
    for page in (text_of(render_report(model)), text_of(write(model))):
        assert [key for key, words in HIDDEN.items() if words in page] == [(unit, neighbors)]
        assert f"all that is released about the same {unit}s to one ledger (this fit names" in page
        assert "without looking at the records" in page
        assert "how long the fit took" in page


def test_whoever_proves_nothing_protects_from_nobody():
    for model in (
        binary(epsilon=float("inf"), holdout=None, intervals=False),
        binary(random_state=0),
    ):
        page = text_of(render_report(model))
        assert "There is nobody against whom this holds." in page
        assert "Nobody else is trusted" not in page


def test_labels_that_were_read_from_the_records_are_learned():
    said = "and the label set, which was read from the records"
    assert said not in text_of(render_report(binary()))
    assert said in text_of(render_report(binary(classes=None)))


def test_every_printed_leaf_names_the_model_file():
    model = binary()
    page = render_report(model)
    style = page[page.index("<style>") : page.index("</style>")]
    assert f'@bottom-left {{ content: "Model file SHA-256 {model.fingerprint()}";' in style

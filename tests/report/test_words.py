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

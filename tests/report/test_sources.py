"""Who signs sees which declarations name their source, and how many do not."""

import pytest

from sparsedp.release.export.card import write
from sparsedp.release.report import render_report
from tests.report.models import linear, with_schema
from tests.report.test_words import text_of


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (("code book", "range of the scale"), "declared for all 2 columns"),
        (("code book",), "declared for 1 column"),
        (("code book", None, None), "not declared for 2 of 3 columns: c1, c2"),
        ((None, None), "not declared for any of 2 columns: c0, c1"),
        ((None,), "not declared for 1 of 1 column: c0"),
    ],
)
def test_sources_are_counted(given, sentence):
    model = with_schema(*given)
    page = text_of(render_report(model))
    assert f"Source of limits {sentence}." in page
    for cells in (page, text_of(write(model))):
        assert cells.count("code book") == (given[0] == "code book")
        assert cells.count("not declared |" if "|" in cells else "invalid not declared") == sum(
            source is None for source in given
        )


def test_limits_without_a_schema_have_no_source():
    assert "Source of limits not declared: limits were given as numbers." in text_of(
        render_report(linear())
    )

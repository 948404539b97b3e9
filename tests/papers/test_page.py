"""docs/reproduction.md says what the stored results say: page and files cannot drift apart."""

import shutil

import pytest

from sparsedp_experiments.framework import check, registry
from sparsedp_experiments.page import write
from sparsedp_experiments.page.results import read, unpacked


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    with unpacked(check.STORED) as folder:
        copied = tmp_path_factory.mktemp("results") / "reproduction"
        shutil.copytree(folder, copied)
    return copied


def test_the_page_is_written_from_the_stored_results(results):
    """After a new run, or a change of the template: make reproduction-page."""
    assert write.PAGE.read_text(encoding="utf-8") == write.rendered(read(results))


def test_every_figure_is_there_and_shown():
    page = write.PAGE.read_text(encoding="utf-8")
    for experiment in registry.all_experiments():
        picture = f"reproduction/{experiment.paper}/{experiment.name}.png"
        assert picture in page
        assert (write.PAGE.parent / picture).exists()


def test_a_claim_that_rows_contradict_stops_the_page(results, tmp_path):
    template = tmp_path / "page.md"
    template.write_text("{{ claim(lasso.mean('synthetic', 'nonprivate', None) > 50) }}So many.")
    with pytest.raises(write.DoesNotHold):
        write.rendered(read(results), template)
    template.write_text("{{ claim(lasso.mean('synthetic', 'nonprivate', None) < 50) }}So few.")
    assert write.rendered(read(results), template) == "So few."


def test_missing_rows_and_rows_of_another_code_are_refused(results, tmp_path):
    copied = tmp_path / "copied"
    shutil.copytree(results, copied)
    path = copied / "screening" / "figure2" / "trials.csv"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]))
    with pytest.raises(ValueError, match="lacks 1 trial"):
        read(copied)
    code = lines[-1].rstrip("\n").split(",")[-1]
    path.write_text("".join(lines[:-1]) + lines[-1].replace(code, "v0123456789"))
    with pytest.raises(ValueError, match="several versions"):
        read(copied)

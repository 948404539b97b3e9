"""The report in Chromium: no barriers, light and dark, wide and narrow; paper hides nothing."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from sparsedp.release.report import write_report
from tests.chromium import chromium
from tests.report.models import binary, linear, multinomial, wide

pytestmark = pytest.mark.filterwarnings("ignore::sparsedp.TooFewRecords")

CORNERS = (("light", 1100), ("dark", 400))
MODELS = {
    "binary": (binary, (*CORNERS, ("light", 400), ("dark", 1100))),
    "multinomial": (multinomial, CORNERS),
    "linear": (linear, CORNERS),
}


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


def shown(browser: Browser, model, folder, complaints: list[str]) -> Page:
    page = browser.new_page()
    page.on("console", lambda said: complaints.append(said.text))
    page.goto(write_report(model, folder / "report.html").as_uri())
    return page


@pytest.mark.parametrize("name", MODELS)
def test_axe_finds_no_barrier(browser, name, tmp_path):
    model, screens = MODELS[name]
    complaints: list[str] = []
    page = shown(browser, model(), tmp_path, complaints)
    for scheme, width in screens:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth") == width, "nothing is cut off"
    page.close()
    assert complaints == [], "its own policy allows the page what it has"


def test_paper_shows_what_a_screen_folds(browser, tmp_path):
    page = shown(browser, wide(), tmp_path, [])
    folded = "document.querySelector('details table').checkVisibility()"
    assert not page.evaluate(folded)
    page.emulate_media(media="print")
    assert page.evaluate(folded)
    page.close()

"""The whole journey in Chromium, by keyboard, with wrong input, two tabs and axe on every page."""

import csv
import json
import os
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page

from sparsedp import Ledger
from sparsedp.ui.journey import Journey
from sparsedp.ui.locks import take
from sparsedp.ui.places import Places
from tests.chromium import chromium
from tests.ui.pages import Server, check_discreet, write_table

LOOKS: tuple[tuple[Literal["dark", "light"], int], ...] = (("dark", 400), ("light", 1100))
FOCUS = """() => { const s = getComputedStyle(document.activeElement);
  return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2; }"""


class Visitor:
    """Somebody without a mouse, who looks at every page for barriers and for what is private."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._mistakes = 0

    def reach(self, selector: str) -> None:
        """Go by the tab key, until the focus is there and can be seen."""
        for pressed in range(300):
            if self.page.evaluate("s => document.activeElement.matches(s)", selector):
                assert self.page.evaluate(FOCUS), f"nobody sees that {selector} has the focus"
                return
            self.page.keyboard.press("Tab")
            # A frame takes keys when its process is ready, which on a busy machine takes seconds.
            if pressed > 60:
                self.page.wait_for_timeout(100)
        raise AssertionError(f"the tab key does not lead to {selector}")

    def write(self, selector: str, text: str, then: str = "") -> None:
        """Fill in a field, and press a key."""
        self.reach(selector)
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.type(text)
        if then:
            self.page.keyboard.press(then)

    def choose(self, selector: str, text: str) -> None:
        """Choose from a list by its first letters."""
        self.reach(selector)
        self.page.keyboard.type(text)

    def press(self, selector: str = "button.main") -> None:
        """Press a button."""
        self.reach(selector)
        self.page.keyboard.press("Enter")

    def at(self, step: str) -> None:
        """The page of a step is there; it has no barriers and tells nothing."""
        self.page.wait_for_url(f"**/{step}")
        self.look()

    def wrong(self, field: str, words: str) -> None:
        """A sentence stands beside a field, which has the focus."""
        self.page.wait_for_selector(f"#{field}-error")
        assert words in self.page.inner_text(f"#{field}-error")
        assert self.page.get_attribute(f"#{field}", "aria-invalid") == "true"
        assert f"{field}-error" in (self.page.get_attribute(f"#{field}", "aria-describedby") or "")
        # Each way in turn: the same pages without mistakes are looked at both ways.
        self.look(LOOKS[self._mistakes % 2 :][:1])
        self._mistakes += 1

    def look(self, ways: tuple[tuple[Literal["dark", "light"], int], ...] = LOOKS) -> None:
        """Axe finds nothing, by day and on a phone at night, and nothing private is shown."""
        for scheme, width in ways:
            self.page.emulate_media(color_scheme=scheme)
            self.page.set_viewport_size({"width": width, "height": 900})
            found = Axe().run(self.page)
            assert found.violations_count == 0, (scheme, width, found.generate_report())
            assert self.page.evaluate("document.documentElement.scrollWidth") <= width
        check_discreet(self.page.content())

    @property
    def command(self) -> str:
        """What the page shows as the same in a terminal."""
        return self.page.inner_text("#commands")


@pytest.fixture
def context():
    """A browser of its own."""
    with chromium() as browser:
        found = browser.new_context(viewport={"width": 1100, "height": 900})
        found.set_default_timeout(120_000)
        yield found


def test_the_whole_journey(tmp_path, context):
    write_table(tmp_path)
    asked: list[str] = []
    complaints: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    context.on("console", lambda said: complaints.append(said.text))
    with Server(tmp_path) as server:
        visitor = Visitor(context.new_page())
        visitor.page.goto(server.address)
        choose_the_file(visitor)
        say_who_is_protected(visitor)
        declare_the_columns(visitor)
        plan(visitor)
        pay(visitor, tmp_path)
        other = fit_in_two_tabs(context, visitor)
        no_other_page_starts_anything(context, server, other.page.url)
        see_the_results(other, tmp_path)
        see_other_states(other, server)
        see_a_strange_header(other, server)
        assert all(url.startswith(f"http://{server.host}/") for url in asked if "evil" not in url)
    assert not [text for text in complaints if "Content Security Policy" in text]


def choose_the_file(visitor: Visitor) -> None:
    visitor.page.wait_for_selector("#path")
    assert "token" not in visitor.page.url
    visitor.look()
    visitor.write("#path", "../visits.csv", then="Enter")
    visitor.wrong("path", "nothing outside is read")
    visitor.write("#path", "visits.csv", then="Enter")
    visitor.at("unit")


def say_who_is_protected(visitor: Visitor) -> None:
    visitor.press()
    visitor.wrong("unit", "say who is protected".capitalize())
    visitor.reach("#unit")
    visitor.page.keyboard.press("Space")
    visitor.choose("#person", "patient")
    visitor.choose("#target", "sick")
    visitor.write("#codebook", "book.csv", then="Enter")
    visitor.at("schema")


def declare_the_columns(visitor: Visitor) -> None:
    assert visitor.page.input_value("#target-classes") == "no | yes"
    assert visitor.page.input_value("#c1-lower") == "18"
    assert not visitor.page.is_visible("#c1-categories")
    assert visitor.page.input_value("#c3-missing") == "indicator"
    visitor.write("#c1-lower", "300")
    visitor.press()
    visitor.wrong("c1-kind", "age: lower must be below upper")
    assert visitor.page.input_value("#c1-lower") == "300", "what was typed is not lost"
    visitor.write("#c1-lower", "18")
    visitor.press()
    visitor.at("plan")


def plan(visitor: Visitor) -> None:
    visitor.write("#epsilon", "much", then="Tab")
    visitor.wrong("epsilon", "'much' is not a valid float")
    visitor.write("#epsilon", "1", then="Tab")
    visitor.page.keyboard.press("Shift+Tab")
    visitor.write("#records", "500", then="Tab")
    visitor.page.wait_for_selector("svg.quality")
    visitor.reach("input[data-for=epsilon]")
    visitor.page.keyboard.press("ArrowRight")
    assert visitor.page.input_value("#epsilon") == "1.5"
    visitor.page.wait_for_selector("#commands:has-text('--epsilon 1.5')")
    visitor.page.wait_for_selector("#expected[aria-busy=false]")
    visitor.look()
    visitor.press()
    visitor.at("price")


def pay(visitor: Visitor, folder: Path) -> None:
    visitor.write("#ledger", "../x.ledger")
    visitor.press()
    visitor.wrong("ledger", "outside")
    visitor.write("#ledger", "visits.ledger", then="Tab")
    visitor.page.wait_for_selector("#commands:has-text('ledger visits.ledger --create')")
    assert not (folder / "visits.ledger").exists(), "it is shown before it is run"
    visitor.press()
    visitor.at("fit")
    assert (folder / "visits.ledger").exists()


def fit_in_two_tabs(context: BrowserContext, visitor: Visitor) -> Visitor:
    """Twice in one tab, which is closed, and once in another."""
    other = Visitor(context.new_page())
    other.page.goto(visitor.page.url)
    shown = other.command
    visitor.press()
    visitor.page.keyboard.press("Enter")
    visitor.page.wait_for_selector("#running, a.main")
    other.press()
    other.page.wait_for_selector("#running, a.main")
    assert other.command == shown, "the same fit"
    other.look()
    visitor.page.close()
    other.page.wait_for_selector("text=See the results")
    other.look()
    return other


def no_other_page_starts_anything(context: BrowserContext, server: Server, target: str) -> None:
    """A page of the same machine, which browsers take for the same site, posts a form."""

    class Evil(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            form = f'<form method="post" action="{target.rsplit("/", 1)[0]}/again"></form>'
            self.wfile.write(f"{form}<script>document.forms[0].submit()</script>".encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    evil = HTTPServer(("127.0.0.1", 0), Evil)
    threading.Thread(target=partial(evil.serve_forever, 0.05), daemon=True).start()
    before = sorted((server.folder / "sparsedp-ui").iterdir())
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{evil.server_port}/evil")
    page.wait_for_selector("text=this did not come from the page itself")
    evil.shutdown()
    page.close()
    assert sorted((server.folder / "sparsedp-ui").iterdir()) == before


def see_other_states(visitor: Visitor, server: Server) -> None:
    """A fit that runs, one that was refused, one that failed, and pages that are not there."""
    done = Journey.all(Places.at(server.folder))[0]
    folder = done.folder / "fit-1"
    (folder / "lock").unlink()
    handle = take(folder / "lock")
    visitor.page.goto(f"http://{server.host}{server.base}/{done.name}/fit")
    visitor.page.wait_for_selector("#status:has-text('releases')")
    visitor.look()
    refused = {"command": [], "code": 2, "output": {}, "error": "the ledger has nothing left"}
    (folder / "fit.json").write_text(json.dumps(refused))
    os.close(handle)
    visitor.page.wait_for_selector("text=The fit did not end well")
    visitor.look()
    (done.folder / "model").rename(done.folder / "elsewhere")
    visitor.page.reload()
    visitor.page.wait_for_selector("text=Nothing was charged")
    visitor.look()
    visitor.page.goto(f"http://{server.host}{server.base}/nobody/plan")
    visitor.page.wait_for_selector("text=There is no such page")
    visitor.look()


def see_a_strange_header(visitor: Visitor, server: Server) -> None:
    """Names of columns are text, whatever they say: nothing runs, and nothing is another's."""
    names = [
        "<script>owned()</script>",
        '"><img src=x onerror=owned()>',
        "__proto__",
        "{{7*7}}",
        "a",
    ]
    with (server.folder / "strange.csv").open("w", newline="") as file:
        csv.writer(file).writerows([names, [1, 2, 3, 4, 5]])
    called: list[str] = []
    visitor.page.context.expose_function("owned", lambda: called.append("owned"))
    visitor.page.goto(f"http://{server.host}{server.base}/")
    visitor.write("#path", "strange.csv", then="Enter")
    visitor.at("unit")
    visitor.reach("#unit")
    visitor.page.keyboard.press("ArrowDown")
    visitor.page.select_option("#target", "__proto__")
    visitor.page.wait_for_selector("#commands:has-text('--target __proto__')")
    visitor.press()
    visitor.at("schema")
    legends = visitor.page.locator("legend").all_inner_texts()
    assert [legends[0].split()[0], *legends[1:]] == ["__proto__", *names[:2], *names[3:]]
    assert called == []


def sign(visitor: Visitor) -> None:
    visitor.write("#signer", "Privacy office", then="Tab")
    visitor.write("#key", "../officer.pem")
    visitor.press("form[action$=sign] button.main")
    visitor.wrong("key", "outside")
    assert visitor.page.input_value("#signer") == "Privacy office", "what was typed is not lost"
    visitor.write("#key", "officer.pem", then="Tab")
    visitor.page.keyboard.press("ArrowDown")
    visitor.page.wait_for_selector("#signing:has-text('--new-key officer.pem')")
    visitor.press("form[action$=sign] button.main")
    visitor.page.wait_for_selector("text=Signed by Privacy office")
    report = visitor.page.frame_locator("iframe")
    assert "by Privacy office" in report.locator("main").inner_text()
    visitor.look()


def see_the_results(visitor: Visitor, folder: Path) -> None:
    visitor.press("a.main")
    visitor.at("result")
    assert "PRIVATE as stated" in visitor.page.inner_text(".badge")
    assert "differential privacy for persons" in visitor.page.inner_text(".statement")
    assert "AUC" in visitor.page.inner_text("main")  # with an interval, or refused
    report = visitor.page.frame_locator("iframe")
    assert "Model of sick" in report.locator("h1").inner_text()
    sign(visitor)
    visitor.choose("#to", "S")
    visitor.press("form[action$=result] button.main")
    visitor.page.wait_for_selector("text=model.sql")
    visitor.look()
    assert "probability of yes" in next((folder / "sparsedp-ui").glob("*/model.sql")).read_text()
    history = Ledger(path=folder / "visits.ledger").history()
    assert [(line.epsilon, line.pending) for line in history] == [(1.5, False)]

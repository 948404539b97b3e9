"""Whoever can write into the folder, or keeps an old tab open, gets no other fit than was shown."""

import json
import os
from dataclasses import replace
from urllib.parse import quote

import pytest

from sparsedp.ui.answers import Answers, Unreadable
from sparsedp.ui.journey import Journey
from sparsedp.ui.places import WORK, Places
from tests.ui.pages import Server, shown, tree


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Let in, in a folder that has a neighbor."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.csv").write_text("name,sick\nsecret,yes\n")
    folder = outside / "inside"
    folder.mkdir()
    (folder / "t.csv").write_text("a,b\n1,0\n")
    with Server(folder) as found:
        found.enter()
        yield found


@pytest.fixture
def journey(server) -> Journey:
    """One that stands before its fit."""
    said = Answers(data="t.csv", columns=("a", "b"), unit="row", target="b", reached="fit")
    found = Journey.begun(Places.at(server.folder), replace(said, ledger="t.ledger"))
    (found.folder / "schema.toml").write_text("[unit]\n")
    return found


def test_a_click_is_for_what_its_page_showed(server, journey):
    """In another tab epsilon, or the schema, became another one meanwhile."""
    csrf, seen, said = server.form(), shown(server, journey.name), journey.said

    def click(shown: str) -> int:
        return server.post(f"{journey.name}/fit", csrf, attempt="1", shown=shown)[0]

    assert click("") == 409
    journey.save(replace(said, epsilon="5"))
    status, text, _ = server.post(f"{journey.name}/fit", csrf, attempt="1", shown=seen)
    assert status == 409
    assert "nothing was started" in text
    assert "charge epsilon = 5" in text, "the page shows what it is now"
    journey.save(said)
    (journey.folder / "schema.toml").write_text("[unit]\n# wider\n")
    assert click(seen) == 409
    assert not list(journey.folder.glob("*fit-*"))
    (journey.folder / "schema.toml").write_text("[unit]\n")
    assert click(seen) == 303, "this is what was shown"
    assert (journey.folder / "fit-1").exists()


@pytest.mark.parametrize("field", ["data", "ledger", "codebook"])
@pytest.mark.parametrize("path", ["../secret.csv", "/etc/passwd", "--help", "link.csv", "a//b"])
def test_a_journey_from_elsewhere_names_nothing_else(server, journey, field, path):
    """As one that came with the folder, or whose table became a link meanwhile."""
    link = server.folder / "link.csv"
    if not link.is_symlink():
        link.symlink_to("../secret.csv")
    stored = {**json.loads(journey.said.to_json()), field: path}
    (journey.folder / "journey.json").write_text(json.dumps(stored))
    csrf, before = server.form(), tree(journey.folder)
    for step in ("unit", "schema", "plan", "price", "fit"):
        assert server.get(f"{journey.name}/{step}")[0] == 409
        form = {"unit": "row", "target": "b", "neighbors": "add_remove", "attempt": "1"}
        assert server.post(f"{journey.name}/{step}", csrf, **form)[0] == 409
    assert tree(journey.folder) == before


@pytest.mark.parametrize("content", ["", "[]", "{}", "\xff"])
def test_a_damaged_attempt_is_not_run_again(server, journey, content):
    """As a power loss leaves it: it may have been charged."""
    attempt = journey.folder / "fit-1"
    attempt.mkdir()
    (attempt / "commands.json").write_bytes(content.encode("latin-1"))
    assert server.get("")[0] == 200
    assert json.loads(server.get(f"{journey.name}/fit/state")[1])["kind"] == "failed"
    csrf = server.form()
    form = {"attempt": "2", "shown": "x"}
    assert server.post(f"{journey.name}/fit", csrf, **form)[0] == 303
    refused = {"command": [], "code": 2, "output": {}, "error": "x"}
    (attempt / "fit.json").write_text(json.dumps(refused))
    assert json.loads(server.get(f"{journey.name}/fit/state")[1])["kind"] == "failed"
    assert not (journey.folder / "fit-2").exists()


def test_strange_requests_have_plain_answers(server, journey):
    csrf = server.form()
    long = "x" * 5000
    for path in (long, "x/" * 3000, "\N{REPLACEMENT CHARACTER}", "~root", "$HOME", "*"):
        assert server.post("begin", csrf, path=path)[0] == 422
        assert server.post(f"{journey.name}/unit", csrf, unit="row", codebook=path)[0] == 422
        assert server.get(f"?folder={quote(path)}")[0] in (200, 422)
    assert server.post(f"{journey.name}/price", csrf, ledger=long, preview="1")[0] == 200
    for attempt in ("9" * 5000, "-1", "1.5", "", "\N{SUPERSCRIPT TWO}"):
        assert server.post(f"{journey.name}/fit", csrf, attempt=attempt, shown="")[0] == 400
    for name in ("plan", "price", "by_default"):
        (journey.folder / f"{name}.json").write_bytes(b"\xff")
    for step in ("file", "unit", "schema", "plan", "price", "fit", "fit/state"):
        assert server.get(f"{journey.name}/{step}")[0] == 200
    assert server.post("begin", csrf, path="x" * 2**22)[0] == 413


def test_a_wide_table_has_a_page_of_usual_size(server, journey):
    names = tuple(f"c{i}" for i in range(20_000))
    journey.save(replace(journey.said, columns=names, target="c1"))
    for step in ("file", "unit", "schema"):
        status, text = server.get(f"{journey.name}/{step}")
        assert (status, len(text) < 40_000) == (200, True)
    form = {"unit": "row", "target": "no such column", "neighbors": "add_remove"}
    assert server.post(f"{journey.name}/unit", server.form(), **form)[0] == 422


def test_a_fault_of_ours_quotes_nothing(server, journey):
    """A stored answer of a command that is none of ours; the terminal has the traceback."""
    secret = {"quality": {"secret": "cell"}, "unit": "person"}
    ran = {"command": [], "code": 0, "output": secret, "error": ""}
    (journey.folder / "plan.json").write_text(json.dumps(ran))
    status, text = server.get(f"{journey.name}/plan")
    assert status == 500
    assert "a bug in sparsedp" in text
    assert "secret" not in text
    assert "Traceback" not in text


def test_work_is_done_in_a_folder_of_ones_own(tmp_path, monkeypatch):
    """In a folder that several write into, somebody may have been there first."""
    places = Places.at(tmp_path)
    assert places.work().stat().st_mode & 0o777 == 0o700
    places.work().chmod(0o777)
    assert places.work().stat().st_mode & 0o777 == 0o700
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(Unreadable, match="belongs to somebody else"):
        places.work()
    monkeypatch.undo()
    (tmp_path / WORK).rmdir()
    (tmp_path / "elsewhere").mkdir()
    for make in (lambda path: path.symlink_to("elsewhere"), lambda path: path.touch()):
        make(tmp_path / WORK)
        with pytest.raises(Unreadable, match="is a link"):
            Journey.begun(places, Answers(data="t.csv"))
        (tmp_path / WORK).unlink()
    assert not list((tmp_path / "elsewhere").iterdir())

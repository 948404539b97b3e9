"""A fit is charged once, whatever is clicked twice, in any tab, before and after a restart."""

import html
import json
import re
import shlex
from concurrent.futures import ThreadPoolExecutor

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
)

from sparsedp import Ledger
from sparsedp.release import PublishedModel
from sparsedp.release.approval.sign import check_signature
from sparsedp.ui import fitting
from sparsedp.ui.answers import Answers
from sparsedp.ui.journey import Journey
from sparsedp.ui.places import Places
from sparsedp.ui.running import Ran
from tests.ui.pages import (
    Server,
    charge_to,
    check_discreet,
    ready,
    shown,
    state,
    tree,
    write_table,
)


def test_clicks_tabs_and_restarts_are_charged_once(tmp_path):
    write_table(tmp_path)
    with Server(tmp_path) as server:
        server.enter()
        name = ready(server, ledger_epsilon="0.5")
        csrf = server.form(f"{name}/fit")
        seen = shown(server, name)
        assert server.post(f"{name}/fit", csrf, attempt="2", shown=seen)[0] == 303
        assert state(server, name) == "none", "the first attempt comes first"
        server.post(f"{name}/fit", csrf, attempt="1", shown=seen)
        assert state(server, name) == "refused"
        text = server.get(f"{name}/fit")[1]
        assert "the ledger has epsilon=0.5" in text
        assert "Nothing was charged" in text
        assert charge_to(server, name, csrf, "b.ledger", "3") == f"{name}/fit"
        command = html.unescape(re.findall(r"<code>(.*?)</code>", server.get(f"{name}/fit")[1])[0])
        seen = shown(server, name)

        def click(_: int) -> int:
            return server.post(f"{name}/fit", csrf, attempt="2", shown=seen)[0]

        with ThreadPoolExecutor(8) as pool:
            assert set(pool.map(click, range(16))) == {303}
        third = server.post(f"{name}/fit", csrf, attempt="3", shown=seen)
        assert third[0] == 303, "it runs: nothing happens"
        assert json.loads(server.get(f"{name}/fit/state")[1])["kind"] == "running"
        assert server.post(f"{name}/plan", csrf, epsilon="2", delta="1e-6")[0] == 409
        assert server.post(f"{name}/again", csrf)[0] == 303
        server.process.kill()
    with Server(tmp_path) as server:
        server.enter()
        csrf = server.form()
        server.post(f"{name}/fit", csrf, attempt="2", shown=seen)
        server.post(f"{name}/fit", csrf, attempt="3", shown=seen)
        assert state(server, name) == "done", "it outlived the server"
        for attempt in "123":
            for more in ({}, {"resume": "1"}):
                form = {"attempt": attempt, "shown": seen, **more}
                assert server.post(f"{name}/fit", csrf, **form)[0] == 303
        assert server.post(f"{name}/unit", csrf, unit="row", target="sick")[0] == 409
        sign(server, name)
        check_result(server, name, command)


def sign(server: Server, name: str) -> None:
    """With a key that is made by the first of two clicks; nothing but the command opens a key."""
    csrf, work = server.form(), server.folder / "sparsedp-ui" / name
    locked = Ed25519PrivateKey.generate()
    how = (Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"sesame"))
    (server.folder / "locked.pem").write_bytes(locked.private_bytes(*how))

    def signed(key: str, key_is: str = "there", signer: str = "Office") -> str:
        form = {"key": key, "key_is": key_is, "signer": signer}
        status, text, where = server.post(f"{name}/sign", csrf, **form)
        assert (status == 303) == (where == f"{name}/result#signed")
        return html.unescape(text)

    assert "outside the folder" in signed("../officer.pem", "new")
    for place in (f"sparsedp-ui/{name}/model/officer.pem", "sparsedp-ui/officer.pem"):
        assert "is published" in signed(place, "new")
    assert "a file of its own" in signed("visits.csv").lower()
    assert "there is no file officer.pem" in signed("officer.pem").lower()
    assert "say who signs" in signed("officer.pem", "new", signer=" ").lower()
    assert "sign in a terminal, which asks for it" in signed("locked.pem")
    assert not (work / "model" / "model.json.signature").exists()
    with ThreadPoolExecutor(2) as pool:
        assert set(pool.map(signed, ["officer.pem"] * 2, ["new"] * 2)) == {""}
    assert "Signed by <strong>Office</strong>" in server.get(f"{name}/result")[1]
    assert "by Office, " in server.get(f"{name}/report")[1]
    assert check_signature(work / "model", server.folder / "officer.pem.pub")[1] == []
    assert (server.folder / "officer.pem").stat().st_mode & 0o777 == 0o600
    secret = (server.folder / "officer.pem").read_text().splitlines()[1]
    for text in (*server.pages, *(each.decode() for each in tree(work).values())):
        assert secret not in text


def check_result(server: Server, name: str, command: str) -> None:
    folder = server.folder / "sparsedp-ui" / name
    assert len(Ledger(path=server.folder / "b.ledger").history()) == 1
    assert Ledger(path=server.folder / "a.ledger").history() == []
    assert sorted(path.name for path in folder.glob("fit-*")) == ["fit-1", "fit-2"]
    ran = json.loads((folder / "fit-2" / "fit.json").read_text())
    assert shlex.join(["sparsedp", *ran["command"]]) == command, "what was shown is what ran"
    assert PublishedModel.load(folder / "model").privacy["unit"] == "person"
    before = tree(server.folder)
    pages = ("", *(f"{name}/{step}" for step in ("file", "unit", "schema", "plan", "price", "fit")))
    for page in (*pages, f"{name}/result", f"{name}/report", f"{name}/fit/state"):
        assert server.get(page)[0] == 200
    for page in ("begin", f"{name}/again"):
        assert server.get(page)[0] in (404, 405)
    assert tree(server.folder) == before, "a GET changes nothing"
    for text in (*server.pages, *map(bytes.decode, tree(folder).values())):
        check_discreet(text)


@pytest.fixture
def journey(tmp_path) -> Journey:
    (tmp_path / "t.csv").write_text("a,b\n")
    return Journey.begun(Places.at(tmp_path), Answers(data="t.csv", reached="fit"))


def left(journey: Journey, **files: object) -> None:
    """An attempt whose process has ended."""
    folder = journey.folder / "fit-1"
    folder.mkdir()
    (folder / "lock").touch()
    content = {"resuming": False, "commands": {}, "root": ""}
    for name, text in ({"commands": content} | files).items():
        (folder / f"{name}.json").write_text(json.dumps(text))


@pytest.mark.parametrize("code", [None, 1, -9, 130])
def test_what_may_have_been_charged_is_not_run_again(journey, code):
    """Without a word of how it ended, or with any but a refusal."""
    ran = {"command": [], "code": code, "output": {}, "error": ""}
    left(journey, **({} if code is None else {"fit": ran}))
    assert fitting.standing(journey).kind == "failed"
    fitting.start(journey, 2)
    assert [path.name for path in journey.folder.glob("*fit-*")] == ["fit-1"]


@pytest.mark.parametrize("name", ["model", "model.unfinished"])
def test_a_refusal_that_left_a_model_is_none(journey, name):
    """As where a full disk takes the model, and nothing that is printed any more."""
    left(journey, fit={"command": [], "code": 2, "output": {}, "error": "x"})
    assert fitting.standing(journey).kind == "refused"
    (journey.folder / name).mkdir()
    assert fitting.standing(journey).kind == "failed"


def test_a_model_that_is_paid_for_is_not_run_again(journey):
    left(journey, fit={"command": [], "code": 0, "output": {}, "error": ""})
    assert fitting.standing(journey).kind == "done"
    fitting.start(journey, 2)
    fitting.resume(journey, 2)
    assert [path.name for path in journey.folder.glob("*fit-*")] == ["fit-1"]


def test_nobody_is_told_to_run_a_charged_fit_again():
    """Where a fit ends in a traceback it may have been charged: its file has what it said."""
    said = "Traceback (most recent call last):\nValueError: cell\n"
    error = Ran.of(["fit"], 1, "", said, "fit-1/fit.stderr").error
    assert error == "this is a bug in sparsedp: fit-1/fit.stderr says more"
    assert "in a terminal" in Ran.of(["plan"], 1, "", said).error


def test_damaged_journeys_are_refused(journey):
    for text in (
        "",
        "[]",
        '{"data": 3}',
        '{"data": "t.csv", "reached": "moon"}',
        '{"epsilon": ""}',
    ):
        (journey.folder / "journey.json").write_text(text)
        with pytest.raises(Exception, match="no journey that this version can read"):
            assert journey.said

"""Who is let in, what another site's page cannot do, which files can be named; a real server."""

from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

from sparsedp.ui.places import Places
from tests.ui.pages import Server, tree, write_table

FORM = "application/x-www-form-urlencoded"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Started in a folder that has a neighbor."""
    outside = tmp_path_factory.mktemp("outside")
    folder = outside / "inside"
    folder.mkdir()
    write_table(folder)
    (outside / "secret.csv").write_text("name,sick\nsecret,yes\n")
    (folder / "link.csv").symlink_to(outside / "secret.csv")
    (folder / "linked").symlink_to(outside)
    with Server(folder) as found:
        yield found


@pytest.fixture
def inside(server):
    """Let in."""
    if not server.cookie:
        server.enter()
        server.address = server.told()
    return server


def test_a_token_works_once_and_a_wrong_one_never(server):
    first = server.address
    parts = urlsplit(first)
    assert server.ask("GET", f"{parts.path}?token=wrong")[0] == 403
    assert server.ask("GET", parts.path)[0] == 403
    assert server.ask("GET", "/")[0] == 403
    server.enter()
    _, text, headers = server.ask("GET", parts.path)
    assert "Which table?" in text
    assert headers["Referrer-Policy"] == "same-origin"  # no-referrer would hide the Origin of forms
    cookie, server.cookie = server.cookie, ""
    assert server.ask("GET", f"{parts.path}?{parts.query}")[0] == 403, "it was used"
    server.address = server.told()
    assert server.address != first
    server.enter()
    server.address = server.told()
    server.cookie = cookie
    assert server.get("")[0] == 200, "another browser does not shut out the first"


def test_the_cookie_is_for_this_page_alone(server):
    parts = urlsplit(server.address)
    said = server.ask("GET", f"{parts.path}?{parts.query}")[2]["Set-Cookie"]
    server.address = server.told()
    assert "HttpOnly" in said
    assert "SameSite=strict" in said
    assert f"Path={server.base};" in said, "servers on other ports get it for no other path"
    assert "Domain" not in said


@pytest.mark.parametrize("path", ["", "static/ui.js", "absent/plan", "begin"])
def test_every_answer_is_covered(inside, path):
    headers = inside.ask("GET", f"{inside.base}/{path}")[2]
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Server"] is None


@pytest.mark.parametrize("host", ["localhost:{port}", "evil.example:{port}", "127.0.0.1", "", None])
def test_another_name_for_this_address_is_refused(inside, host):
    port = inside.host.split(":")[1]
    name = "127.0.0.1:1" if host is None else host.format(port=port)
    status, text, _ = inside.ask("GET", f"{inside.base}/", Host=name)
    assert status in (400, 421)
    assert "table" not in text


def begin(server: Server, csrf: str, **headers: str) -> int:
    """A form that would begin a journey."""
    body = urlencode({"csrf": csrf, "path": "visits.csv"}).encode()
    own = {"Origin": f"http://{server.host}", "Content_Type": FORM}
    return server.ask("POST", f"{server.base}/begin", body, **{**own, **headers})[0]


def test_another_page_can_post_nothing(inside):
    csrf, before = inside.form(), tree(inside.folder)
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1", f"https://{inside.host}"):
        assert begin(inside, csrf, Origin=origin) == 403
    body = urlencode({"csrf": csrf, "path": "visits.csv"}).encode()
    assert inside.ask("POST", f"{inside.base}/begin", body, Content_Type=FORM)[0] == 403
    assert begin(inside, "wrong") == 403
    assert begin(inside, "") == 403
    assert begin(inside, csrf, Content_Type="multipart/form-data; boundary=x") == 415
    assert begin(inside, csrf, Content_Type="text/plain") == 415
    assert begin(inside, csrf, Cookie="sparsedp=wrong") == 403
    assert inside.ask("PUT", f"{inside.base}/begin", b"")[0] == 405
    assert tree(inside.folder) == before


@pytest.mark.parametrize(
    "path",
    ["../secret.csv", "/etc/passwd", "link.csv", "linked/secret.csv", "x/../../secret.csv", "\0"],
)
def test_nothing_outside_is_named(inside, path):
    before = tree(inside.folder)
    status, text, _ = inside.post("begin", inside.form(), path=path)
    assert status == 422
    assert "outside" in text or "name a file" in text
    assert tree(inside.folder) == before


def test_no_database_and_no_pipe_is_named(inside):
    for path in ("sqlite:///visits.db?query=SELECT 1", "-", "--help"):
        status, text, _ = inside.post("begin", inside.form(), path=path)
        assert status == 422
        assert "there is no file" in text.lower()


def test_what_is_listed_lies_inside(inside):
    assert "visits.csv" in inside.get("")[1]
    for folder in ("..", "/", "linked"):
        text = inside.get(f"?folder={folder}")[1]
        assert "secret.csv" not in text
        assert "outside the folder" in text
    assert "link" not in inside.get("")[1].replace("<link", "")


def test_no_journey_has_a_strange_name(inside):
    for name in ("..", "%2e%2e", "x%2f..%2f..", "visits", "A"):
        for page in ("unit", "report", "files/journey.json", "files/..%2fvisits.csv"):
            assert inside.get(f"{name}/{page}")[0] == 404


def test_paths_as_commands_take_them(tmp_path):
    """A file whose name begins with a minus is no option."""
    (tmp_path / "-o.csv").write_text("a\n")
    places = Places.at(tmp_path)
    assert places.file("-o.csv") == "./-o.csv"
    assert places.file(str(tmp_path / "-o.csv")) == "./-o.csv"
    assert places.inside(".") == "."
    for text in ("", " ", "a\nb", str(Path("/"))):
        with pytest.raises(ValueError, match=r"name a file|outside"):
            places.inside(text)

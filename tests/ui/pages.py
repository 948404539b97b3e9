"""A real server of the page, a small table with several rows per person, and ways to ask."""

import csv
import http.client
import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import numpy as np

N_PEOPLE, N_ROWS = 523, 1047
"""Which no page and no file may show."""

BOOK = """\
name,kind,lower,upper,categories,missing
age,integer,18,110,,
smoker,boolean,,,,
pressure,number,60,240,,indicator
sick,category,,,no|yes,
"""
COOKIE = re.compile(r"sparsedp=([^;]+)")


def write_table(folder: Path) -> None:
    """People with one to three rows, of which some cells are missing."""
    rng = np.random.default_rng(5)
    rows = []
    for i in range(N_PEOPLE):
        age, smoker = int(rng.integers(20, 95)), bool(rng.random() < 0.4)
        for _ in range(2 + (i == 0)):
            pressure = round(float(rng.normal(125 + age / 5, 12)), 1)
            sick = rng.random() < 1 / (1 + np.exp(2 - (age - 60) / 10 - 2 * smoker))
            cells = [f"P{i:05d}", age, "yes" if smoker else "no"]
            cells += ["" if rng.random() < 0.05 else pressure, "yes" if sick else "no"]
            rows.append(cells)
    assert len(rows) == N_ROWS
    with (folder / "visits.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["patient", "age", "smoker", "pressure", "sick"], *rows])
    (folder / "book.csv").write_text(BOOK)


@dataclass
class Server:
    """``sparsedp ui`` as a process of its own."""

    folder: Path
    address: str = ""
    cookie: str = ""
    pages: list[str] = field(default_factory=list)

    def __enter__(self) -> "Server":
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        command = [sys.executable, "-m", "sparsedp", "ui", "--folder", str(self.folder)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        self.addresses: queue.Queue[str] = queue.Queue()
        self.reader = threading.Thread(target=self._read)
        self.reader.start()
        try:
            self.address = self.told()
        except queue.Empty:
            self.process.kill()
            raise
        return self

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            for found in re.findall(r"http://\S+", line):
                self.addresses.put(found)

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(60)
        self.reader.join()

    def told(self, within: float = 120) -> str:
        """The next address in the terminal."""
        return self.addresses.get(timeout=within)

    @property
    def host(self) -> str:
        """With the port."""
        return urlsplit(self.address).netloc

    @property
    def base(self) -> str:
        """The path below which everything lies."""
        return urlsplit(self.address).path.rstrip("/")

    def ask(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, str, http.client.HTTPMessage]:
        """One request, with headers as they are given: status, text and headers."""
        host, port = self.host.split(":")
        wire = http.client.HTTPConnection(host, int(port), timeout=120)
        wire.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        sent = {"Host": self.host, "Cookie": f"sparsedp={self.cookie}"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None:
            sent.setdefault("Content-Length", str(len(body)))
        for name, value in sent.items():
            wire.putheader(name, value)
        wire.endheaders(body)
        answer = wire.getresponse()
        text = answer.read().decode("utf-8", "replace")
        self.pages.append(text)
        wire.close()
        return answer.status, text, answer.headers

    def enter(self) -> None:
        """Exchange the token for a cookie."""
        parts = urlsplit(self.address)
        status, _, headers = self.ask("GET", f"{parts.path}?{parts.query}")
        assert status == 200
        found = COOKIE.search(headers["Set-Cookie"])
        assert found
        self.cookie = found.group(1)

    def get(self, path: str) -> tuple[int, str]:
        """A page below the base."""
        status, text, _ = self.ask("GET", f"{self.base}/{path}")
        return status, text

    def form(self, path: str = "") -> str:
        """The token of forms."""
        found = re.search(r'name="csrf" value="(\w+)"', self.get(path)[1])
        assert found
        return found.group(1)

    def post(self, page: str, csrf: str, **fields: str) -> tuple[int, str, str]:
        """A form: status, text and where it leads."""
        status, text, headers = self.ask(
            "POST",
            f"{self.base}/{page}",
            urlencode({"csrf": csrf, **fields}).encode(),
            Origin=f"http://{self.host}",
            Content_Type="application/x-www-form-urlencoded",
        )
        return status, text, (headers["Location"] or "").removeprefix(self.base + "/")


def tree(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def ready(server: Server, ledger_epsilon: str) -> str:
    """A journey that stands before its fit, by forms alone; its name."""
    csrf = server.form()
    name = server.post("begin", csrf, path="visits.csv")[2].split("/")[0]
    unit = {"unit": "person", "person": "patient", "target": "sick", "neighbors": "add_remove"}
    assert server.post(f"{name}/unit", csrf, **unit, codebook="book.csv")[0] == 303
    schema = (server.folder / "sparsedp-ui" / name / "schema.toml").read_text()
    assert server.post(f"{name}/schema", csrf, text=schema)[2] == f"{name}/plan"
    assert server.post(f"{name}/plan", csrf, epsilon="1", delta="1e-6", go="1")[0] == 303
    assert charge_to(server, name, csrf, "a.ledger", ledger_epsilon) == f"{name}/fit"
    return name


def charge_to(server: Server, name: str, csrf: str, ledger: str, epsilon: str) -> str:
    """Say which ledger pays; where that leads."""
    budget = {"ledger_epsilon": epsilon, "ledger_delta": "1e-5", "invalid": "raise"}
    return server.post(f"{name}/price", csrf, ledger=ledger, who="Ada", **budget, go="1")[2]


def shown(server: Server, name: str) -> str:
    """What the page of a fit says that it would start."""
    found = re.search(r'name="shown" value="(\w+)"', server.get(f"{name}/fit")[1])
    assert found
    return found.group(1)


def state(server: Server, name: str) -> str:
    """How the fit stands, once it does not run any more."""
    end = time.monotonic() + 300
    while time.monotonic() < end:
        found = json.loads(server.get(f"{name}/fit/state")[1])["kind"]
        if found != "running":
            return found
        time.sleep(0.2)
    raise AssertionError("the fit did not end")


def check_discreet(text: str) -> None:
    """Neither the number of records or people nor anybody's id."""
    assert not re.search(rf"(?<![\w.])({N_PEOPLE}|{N_ROWS})(?![\w.])", text)
    assert not re.search(r"(?<![\w.])P\d{5}", text)

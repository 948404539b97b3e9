"""A PostgreSQL server for the tests of this folder."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

USER, PASSWORD = "olga4711", "hunter2-secret"


def programs() -> Path | None:
    found = [*Path("/usr/lib/postgresql").glob("*/bin/initdb"), shutil.which("initdb")]
    return next((Path(path).resolve().parent for path in found if path), None)


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """Address of a server without network; it refuses to run as root."""
    tools = programs()
    if tools is None:
        pytest.skip("no PostgreSQL server is installed: reading PostgreSQL tables is NOT tested")
    other = "nobody" if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    (folder / "password").write_text(PASSWORD)
    if other is not None:
        for path in (folder, folder / "password"):
            os.chown(path, pwd.getpwnam(other).pw_uid, -1)

    def run(program: str, *arguments: str) -> None:
        subprocess.run(
            [tools / program, "-D", folder / "data", *arguments],
            user=other,
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    try:
        how = ("-U", USER, "-A", "scram-sha-256", "-N", "-E", "UTF8", "--locale=C")
        run("initdb", *how, f"--pwfile={folder / 'password'}")
        run("pg_ctl", "start", "-w", "-o", f"-k {folder} -c listen_addresses='' -c fsync=off")
        yield f"postgresql://{USER}:{PASSWORD}@/postgres?host={folder}"
        run("pg_ctl", "stop", "-m", "immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)

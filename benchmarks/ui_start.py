"""How long ``sparsedp ui`` takes from the start of its process to the first byte of its first page.

    python benchmarks/ui_start.py [--runs 10]

A real server each time, asked as soon as it prints its address: for the page that this opens, and
for the first page behind it. Wall time, with the CPU time of the process beside it: on a busy
machine the former says how busy, and the latter what is ours. The load is printed too.
"""

import argparse
import http.client
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit


def first_byte(address: str, path: str, cookie: str) -> tuple[float, str]:
    """When the first byte of an answer is there, and the cookie that came with it."""
    wire = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
    wire.request("GET", path, headers={"Cookie": cookie})
    answer = wire.getresponse()
    if not answer.read(1) or answer.status != 200:
        raise RuntimeError(f"the server answered {answer.status}")
    then = time.perf_counter()
    wire.close()
    return then, (answer.getheader("Set-Cookie") or "").split(";")[0]


def cpu_seconds(pid: int) -> float:
    """CPU time of a process until now."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(folder: str) -> tuple[float, float, float]:
    """Seconds to the first answer, to the first page behind it, and of CPU."""
    begun = time.perf_counter()
    command = [sys.executable, "-m", "sparsedp", "ui", "--folder", folder]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stdout is not None
        address = next(line for line in server.stdout if "http://" in line).strip()
        parts = urlsplit(address)
        first, cookie = first_byte(address, f"{parts.path}?{parts.query}", "")
        page, _ = first_byte(address, parts.path, cookie)
        spent = cpu_seconds(server.pid)
        server.terminate()
    return first - begun, page - begun, spent


def main() -> None:
    """Print medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        measured(folder)  # files that were not read yet
        found = [measured(folder) for _ in range(runs)]
    for name, values in zip(
        ("first answer", "first page", "CPU time"), zip(*found, strict=True), strict=True
    ):
        print(f"{name}: median {statistics.median(values):.2f} s, largest {max(values):.2f} s")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()

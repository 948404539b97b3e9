"""What commands print, on docs/errata.md: ``python docs/sphinx/errata.py`` writes it anew.

With ``--check`` nothing is written: names of entries that differ are printed, exit code 1.
"""

import argparse
import re
from pathlib import Path

from sparsedp.audit.errata import Erratum, errata

PAGE = Path(__file__).resolve().parents[1] / "errata.md"
BLOCK = re.compile(r"```\n\$ sparsedp audit --erratum (\S+)\n(.*?)```\n", re.DOTALL)


def printed(entry: Erratum) -> tuple[str, bool]:
    """What the command prints, and whether the conviction stands."""
    finding = entry.convict()
    return "\n".join(entry.lines(finding)) + "\n", finding.stands


def main() -> int:
    """Run every entry of the code; entries of the page that the code does not have are errors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    page = PAGE.read_text(encoding="utf-8")
    shown = dict(BLOCK.findall(page))
    wrong = sorted(set(shown) ^ {entry.name for entry in errata()})
    outputs = {}
    for entry in errata():
        outputs[entry.name], stands = printed(entry)
        if not stands or (check and shown.get(entry.name) != outputs[entry.name]):
            wrong.append(entry.name)
        print(entry.name, "differs" if entry.name in wrong else "ok", flush=True)
    if not check:
        page = BLOCK.sub(
            lambda m: f"```\n$ sparsedp audit --erratum {m[1]}\n{outputs.get(m[1], m[2])}```\n",
            page,
        )
        PAGE.write_text(page, encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())

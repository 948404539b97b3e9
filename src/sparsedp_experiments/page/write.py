"""Write docs/reproduction.md from docs/reproduction/page.md.jinja and stored results.

``python -m sparsedp_experiments.page.write`` takes the results in docs/reproduction/results.tar.xz;
``--results FOLDER`` packs those of a full run into it first, and copies their figures. What the
page claims in words is checked by the rows: a claim that does not hold stops the script.
"""

import argparse
import shutil
import tarfile
from pathlib import Path
from typing import Any

import jinja2

from sparsedp_experiments.framework import origin, registry
from sparsedp_experiments.framework.check import STORED
from sparsedp_experiments.page.ight import Ight, corollary_epsilon, remark_over_corollary
from sparsedp_experiments.page.pretraining import Pretraining
from sparsedp_experiments.page.private_lasso import PrivateLasso, random_picks
from sparsedp_experiments.page.results import Results, read, unpacked
from sparsedp_experiments.page.screening import Screening

TEMPLATE = STORED.parent / "page.md.jinja"
PAGE = STORED.parents[1] / "reproduction.md"


class DoesNotHold(Exception):
    """A sentence of the page that the rows contradict."""


def claim(condition: Any) -> str:
    """Nothing, if what the next sentence says holds."""
    if not condition:
        raise DoesNotHold("the page claims what its results do not show: see the traceback's line")
    return ""


def rendered(results: Results, template: Path = TEMPLATE) -> str:
    """The page."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(template.parent),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        autoescape=False,  # Markdown
    )
    return environment.get_template(template.name).render(
        claim=claim,
        results=results,
        lasso=PrivateLasso(results),
        ight=Ight(results),
        pretraining=Pretraining(results),
        screening=Screening(results),
        random_picks=random_picks,
        corollary_epsilon=corollary_epsilon,
        remark_over_corollary=remark_over_corollary,
        abs=abs,
        min=min,
        max=max,
        all=all,
        len=len,
    )


def pack(folder: Path, archive: Path = STORED) -> None:
    """Rows, summaries and origins into the archive, figures beside it."""
    names = [folder / origin.NAME]
    for experiment in registry.all_experiments():
        here = folder / experiment.paper / experiment.name
        names += [path for path in (here / "summary.md", here / "trials.csv") if path.exists()]
        target = archive.parent / experiment.paper
        target.mkdir(parents=True, exist_ok=True)
        for picture in here.glob("*.png"):
            shutil.copyfile(picture, target / picture.name)
    with tarfile.open(archive, "w:xz") as file:
        for path in names:
            file.add(path, Path("reproduction") / path.relative_to(folder), filter=_plain)


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """The same archive whoever packs it, and when."""
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o644
    return entry


def main() -> None:
    """From the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, help="folder of a full run, to be packed first")
    results = parser.parse_args().results
    if results is not None:
        pack(results)
    with unpacked(STORED) as folder:
        PAGE.write_text(rendered(read(folder)), encoding="utf-8")


if __name__ == "__main__":
    main()

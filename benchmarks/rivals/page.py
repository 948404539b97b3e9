"""The page benchmarks/rivals.md from the files of benchmarks/rivals/run.py.

    PYTHONPATH=src:. python -m benchmarks.rivals.page ours.csv rivals.csv --out benchmarks/rivals.md
    PYTHONPATH=src:. python -m benchmarks.rivals.page ours.csv rivals.csv --short

--short is what to look at after a change; --ours names the method, or label, on our side.
"""

import argparse
from pathlib import Path

from benchmarks.rivals.comparison import comparison, losses, rivals_of
from benchmarks.rivals.introduction import PACKAGED, READING
from benchmarks.rivals.introduction import TEXT as INTRODUCTION
from benchmarks.rivals.results import TASKS, read
from benchmarks.rivals.sections import ceiling, everything, probabilities, safety, seconds
from benchmarks.rivals.sets import TEXT
from benchmarks.rivals.tables import title


def page(results, ours, introduction=INTRODUCTION):
    """All sections."""
    methods = [ours, *rivals_of(results, ours)]
    stamps = "; ".join(f"{title(m)}: {', '.join(sorted(results.commits[m]))}" for m in methods)
    fits = {
        m: max((len(f) for k, f in results.fits.items() if k[1] == m), default=0) for m in methods
    }
    counts = "; ".join(f"{title(m)}: {count}" for m, count in fits.items())
    yield introduction.format(commits=stamps, runs=counts) + READING
    yield "## Ours against each rival\n"
    yield from comparison(results, ours)
    yield "## Where we lose\n"
    yield "Cells lost beyond two standard errors of the paired difference, text included.\n"
    yield from losses(results, ours)
    yield "## Probabilities\n"
    yield from probabilities(results, methods)
    yield "## Worse than no model\n"
    yield from safety(results, methods)
    yield "## Beside EBM without privacy\n"
    yield from ceiling(results, ours)
    yield "## Time\n"
    yield "CPU seconds of a fit and its predictions.\n"
    yield from seconds(results, methods)
    for metric, name in TASKS.items():
        tables = [s for s in results.sets(metric) if s not in TEXT]
        if tables:
            yield f"## All tables: {name}\n"
            yield from everything(results, methods, tables, metric)
    text = [s for s in results.sets("auc") if s in TEXT]
    if text:
        yield "## Text: AUC\n"
        yield from everything(results, methods, text, "auc")
    if results.failed:
        yield "## What could not be fitted\n"
        for method, names in results.failed.items():
            yield f"- {title(method)}: {', '.join(sorted(names))}"


def short(results, ours):
    """What to look at after a change: the comparison, and whether ours is honest and safe."""
    yield from comparison(results, ours)
    yield from probabilities(results, [ours])
    yield from safety(results, [ours])


def main():
    """Read files, write or print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--ours", default="ours")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--packaged", action="store_true", help="of tables that come with packages")
    options = parser.parse_args()
    results = read(options.files)
    if options.short:
        lines = short(results, options.ours)
    else:
        lines = page(results, options.ours, PACKAGED if options.packaged else INTRODUCTION)
    text = "\n".join(lines).rstrip() + "\n"
    if options.out:
        options.out.write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()

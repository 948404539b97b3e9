"""The page of benchmarks/bench.py, from its results.json: no figure is written by hand.

python benchmarks/bench_page.py build/bench
"""

import json
import sys
from pathlib import Path

from bench_goals import choices, doublings, goals, number
from bench_plots import write_scaling, write_steps
from bench_text import (
    CHOICE,
    COUNT,
    FITS,
    GOALS,
    IMPORTS,
    INTRODUCTION,
    MEMORY,
    REASONS,
    ROUNDS,
    SCALING,
    SOLVERS,
    STEPS,
    THREADS,
)


def write(results, folder):
    """Page and figures."""
    machine = results["machine"]
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    text = [
        INTRODUCTION.format(
            **machine | {"packages": packages, "diffprivlib": " and ".join(machine["diffprivlib"])},
            runs=run_text(results["runs"]),
        )
    ]
    if results["quick"]:
        text.append("**This was a quick run on small sets: its figures mean nothing.**\n")
    if results["note"]:
        text.append(f"**Note.** {results['note']}\n")
    text += [*goal_table(results), ""]
    if "walk" in results:
        text += [STEPS, *step_table(results["walk"]), ""]
        write_steps(folder / "results-steps.svg", results["walk"])
    if "scaling" in results:
        text += [scaling_text(results), *scaling_table(results["scaling"]), ""]
        write_scaling(folder / "results-scaling.svg", results["scaling"])
    if "fits" in results:
        text += [FITS, *fit_table(results), "", COUNT, *count_table(results["fits"]), ""]
    if "choice" in results:
        text += [*choice_part(results), ""]
    if "memory" in results:
        text += [MEMORY, *memory_table(results["memory"]), ""]
    if "threads" in results:
        text += [THREADS, *thread_table(results["threads"]), ""]
    if "solvers" in results:
        text += [SOLVERS, *solver_table(results["solvers"]), ""]
    if results.get("rounds"):
        text += [ROUNDS, *round_table(results["rounds"]), ""]
    if "imports" in results:
        rows = [(name, f"{ms:.1f}") for name, ms in results["imports"].items()]
        text += [IMPORTS, *table(("import", "ms"), rows)]
    (folder / "results.md").write_text("\n".join(text) + "\n")


def run_text(runs):
    """Which parts were measured together."""
    parts = {}
    for part, run in runs.items():
        parts.setdefault(run, []).append(part)
    if len(parts) == 1:
        return "one run"
    return f"{len(parts)} runs: " + "; ".join(", ".join(names) for names in parts.values())


def table(heads, rows, n_text=1):
    """Lines of a table, all but the first columns aligned to the right."""
    rule = ["---"] * n_text + ["--:"] * (len(heads) - n_text)
    return [f"| {' | '.join(map(str, row))} |" for row in (heads, rule, *rows)]


def goal_table(results):
    """What was asked for, and what is in the way."""
    found = goals(results)
    rows = [(g.what, g.wanted, g.measured, "yes" if g.holds else "**no**") for g in found]
    lines = [GOALS, *table(("", "wanted", "measured", "holds"), rows)]
    for reason in dict.fromkeys(g.reason for g in found if not g.holds):
        lines.append("\n" + REASONS.get(reason, "").rstrip())
    return lines


def step_table(walk):
    """A line for each set and epsilon."""
    heads = ["set", "ε", "appendix B (steps)", "afrl-ri", "NumPy"]
    for noise in ("published", "sound"):
        heads += [f"{noise}: full", "lazy", "auto", "faster", "accuracy"]
    rows = []
    for line in walk:
        row = [line["set"], f"{line['epsilon']:g}"]
        row += [f"{number(line['appendix_b'])} ({line['n_run']})", number(line["afrl_ri"])]
        row.append(number(line["numpy"]))
        for noise in ("laplace", "exponential"):
            row += [number(line[f"{noise} {mode}"]) for mode in ("full", "lazy", "auto")]
            row.append(f"**{number(line['appendix_b'] / line[f'{noise} auto'])}×**")
            row.append(f"{line[f'{noise} accuracy']:.2f}")
        rows.append(row)
    return [
        *table(heads, rows),
        "\nAccuracy is that on training records, for orientation: where noise decides every step "
        "it is that of chance, and a fast fit is of no use.",
    ]


def scaling_text(results):
    """With the factors of the doublings."""
    lines = [line for line in results["scaling"] if line["axis"] == "d"]
    rows = [line for line in results["scaling"] if line["axis"] == "per_row"]
    middle = rows[len(rows) // 2]
    factors = {
        key: ", ".join(f"{factor:.2f}" for factor in doublings(results, key))
        for key in ("laplace 1 walking", "exponential 1 walking", "laplace 1")
    }
    return SCALING.format(
        n=lines[0]["n"],
        d=middle["d"],
        per_row=middle["value"],
        first=lines[0]["value"],
        last=lines[-1]["value"],
        published=factors["laplace 1 walking"],
        sound=factors["exponential 1 walking"],
        whole=factors["laplace 1"],
    )


def scaling_table(scaling):
    """A line for each size."""
    names = {"n": "n", "d": "d", "per_row": "entries per record"}
    keys = ["appendix_b", "full"]
    keys += [f"{noise} {e}" for noise in ("laplace", "exponential") for e in ("0.1", "1", "10")]
    heads = ["varied", "appendix B", "full"]
    heads += [f"{noise} {e}" for noise in ("published", "sound") for e in ("0.1", "1", "10")]
    rows = []
    for line in scaling:
        varied = f"{names[line['axis']]} = {line['value']:,}"
        rows.append([varied, *(number(line[key]) for key in keys)])
    return table(heads, rows)


def fit_table(results):
    """A line for each set."""
    heads = ["set", "liblinear", "celer", "skglm", "Lasso", "diffprivlib, ε = 1", "prepared"]
    heads += [f"{noise}, ε = {e}" for noise in ("published", "sound") for e in ("1", "10")]
    rows = []
    for line in results["fits"]:
        row = [line["set"]]
        for name in ("liblinear", "celer", "skglm", "lasso"):
            row.append(fit_cell(line.get(name)))
        found = line["diffprivlib"]
        if "seconds" in found:
            row.append(f"{found['seconds']['1.0']:.2f} ({found['features']:,})")
        elif results["diffprivlib_missing"]:
            row.append(results["diffprivlib_missing"])
        else:
            row.append(f"dense: {found['dense_bytes'] / 2**30:,.0f} GB")
        row.append(f"{line['prepared']:.2f}")
        for noise in ("laplace", "exponential"):
            row += [f"{line[f'{noise} {epsilon}']:.3f}" for epsilon in ("1", "10")]
        rows.append(row)
    return table(heads, rows)


def fit_cell(found):
    """Seconds and features of one fit."""
    if found is None:
        return "not installed"
    if found["seconds"] is None:
        return f"> {found['limit']:g}"
    return f"{found['seconds']:.2f} ({found['features']:,})"


def count_table(fits):
    """A line for each set."""
    rows = []
    for line in fits:
        seconds, listing = line["count_seconds"], line["count_listing"]
        row = (line["set"], f"{line['radius']:g}", line["count"], f"{seconds:.2f}")
        rows.append((*row, f"{line['gap']:.0e}", number(listing), f"{number(listing / seconds)}×"))
    heads = ("set", "radius", "features", "CPU s", "gap", "50,000 steps, CPU s", "faster")
    return table(heads, rows)


def choice_part(results):
    """How good the choice is, and where it is worst."""
    points = choices(results)
    above = sum(point[0] > 1.2 for point in points)
    short = ", ".join(dict.fromkeys(line["set"] for line in results["choice"]))
    median = points[len(points) // 2][0]
    text = CHOICE.format(short=short, count=len(points), above=above, median=median)
    rows = [
        (name, f"{n_steps:,}", f"{radius:g}", noise, f"{epsilon:g}", f"{ratio:.2f}")
        for ratio, name, n_steps, radius, noise, epsilon in points[:5]
    ]
    return [text, *table(("set", "steps", "radius", "noise", "ε", "auto / better"), rows)]


def memory_table(memory):
    """A line for each sparse set."""
    rows = []
    for line in memory:
        row = [line["set"], f"{line['entries']:,}"]
        sizes = (line["given"], line["gated"] - line["given"], line["compact"], line["fit"])
        row += [f"{size / 2**20:.0f} ({size / line['entries']:.1f})" for size in sizes]
        rows.append([*row, f"{line['process'] / 2**20:.0f}"])
    return table(("set", "entries", "given", "gate", "compact copy", "fit", "process"), rows)


def thread_table(lines):
    """A line for each set."""
    rows = []
    for name in dict.fromkeys(line["set"] for line in lines):
        one, two = (
            [line for line in lines if line["set"] == name and line["threads"] == n] for n in (1, 2)
        )
        row = [name, one[0]["fits"]]
        for key in ("wall", "cpu"):
            row += [f"{min(line[key] for line in found):.2f}" for found in (one, two)]
        gain = min(line["wall"] for line in one) / min(line["wall"] for line in two)
        rows.append([*row, f"{gain:.2f}×"])
    return table(("set", "fits", "wall, 1", "wall, 2", "CPU, 1", "CPU, 2", "gain"), rows)


def solver_table(lines):
    """A line for each set and solver."""
    rows = []
    for line in lines:
        times = [line[key] for key in ("solve", "products", "plain")]
        ratios = [times[0] / times[1], times[0] / times[2]]
        row = [f"{line['set']} ({line['n']:,} × {line['d']:,})", line["solver"]]
        rows.append([*row, *map(number, times), *(f"{ratio:.2f}" for ratio in ratios)])
    heads = ("set", "solver", "fit", "products", "plain", "fit / products", "fit / plain")
    return table(heads, rows, 2)


def round_table(lines):
    """A line for each set, noise and epsilon."""
    names = {"laplace": "published", "exponential": "sound"}
    rows = []
    for line in lines:
        row = (line["set"], names[line["noise"]], f"{line['epsilon']:g}", line["rounds"])
        gain = line["plain"] / line["seconds"]
        rows.append((*row, number(line["seconds"]), number(line["plain"]), f"{number(gain)}×"))
    heads = ("set", "noise", "ε", "rounds", "seconds", "plain loop, seconds", "faster")
    return table(heads, rows, 2)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    write(json.loads((target / "results.json").read_text()), target)

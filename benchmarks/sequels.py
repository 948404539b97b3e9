"""Methods that followed the papers, beside Pursuit and the constant, on tables and one heavy tail.

    python -m benchmarks.sequels run --data DIR [--methods "rnm_screen;constant"] [--sets a9a,dna]
    python -m benchmarks.sequels page

`run` adds lines to sequels.csv (those of the same methods and sets are replaced), `page` writes
sequels.md from all of them. DIR and splits are those of benchmarks/rivals/sets.py: bounds as the
holder declares them, four fifths for training. A new method is a line in METHODS.
"""

import argparse
import csv
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.rivals import sets
from sklearn.metrics import r2_score, roc_auc_score

from sparsedp import Bounds, SparseLinearRegression, SparseLogisticRegression
from sparsedp.losses import Huber
from sparsedp.solvers import IGHT, BestSubset, KendallSelection, Solver

HERE = Path(__file__).parent
TRIALS, PAGE = HERE / "sequels.csv", HERE / "sequels.md"
CLASSES = ("a9a", "phishing", "splice", "dna", "usps_even", "mnist49")
NUMBERS = ("california", "abalone", "cpusmall", "bodyfat", "tails")
EPSILONS = (0.3, 1.0, 3.0)
COLUMNS = ("set", "method", "epsilon", "run", "score", "n_used", "seconds")
TAIL_LIMIT = 30.0


@dataclass(frozen=True)
class Method:
    """One column of the table.

    Attributes
    ----------
    solver : callable or None
        Makes the solver; None for the constant.
    tasks : str
        "classes", "numbers" or "both".
    loss : str or Huber
        Of regressions.
    shapes : str
        Whether effects may bend.
    """

    solver: Callable[[], Solver | str] | None
    tasks: str = "both"
    loss: str | Huber = "squared"
    shapes: str = "auto"


def named(name: str) -> Callable[[], str]:
    """A solver with its defaults."""
    return lambda: name


METHODS = {
    "constant": Method(None),
    "pursuit": Method(named("pursuit")),
    "pursuit, huber": Method(named("pursuit"), "numbers", "huber"),
    "pursuit, huber, lines": Method(named("pursuit"), "numbers", "huber", "linear"),
    "adp_screen": Method(named("adp_screen")),
    "rnm_screen": Method(named("rnm_screen")),
    "noisy_min": Method(named("noisy_min")),
    "huber_iht": Method(named("huber_iht"), "numbers", "huber"),
    "ada_ssp": Method(named("ada_ssp")),
    "boosted_ada_ssp": Method(named("boosted_ada_ssp")),
    "best_subset": Method(named("best_subset"), "classes"),
    "best_subset, 5": Method(lambda: BestSubset(n_keep=5), "numbers"),
    "kendall": Method(named("kendall"), "classes"),
    "kendall, target": Method(lambda: KendallSelection(redundancy=False), "classes"),
    "kendall, 5": Method(lambda: KendallSelection(n_keep=5), "numbers"),
    "ight, peeling": Method(lambda: IGHT(n_steps=10, peeling=True), "numbers"),
}


def heavy_tails(run):
    """Five of 100 features count, errors have no variance (Student, 1.5 degrees of freedom).

    Test targets are the means: with such errors R2 on the targets themselves says nothing.
    """
    rng = np.random.default_rng([run, 15])
    X = rng.uniform(-1, 1, size=(12_500, 100))
    mean = X[:, :5] @ np.array([1.0, -1, 1, -1, 1])
    y = mean[:10_000] + rng.standard_t(1.5, size=10_000)
    limits = -np.ones(100), np.ones(100)
    made = sets.Table("tails", X, mean, *limits, (-TAIL_LIMIT, TAIL_LIMIT), None)
    return sets.Part(made, X[:10_000], y, X[10_000:], mean[10_000:])


def part_of(name, run, options):
    """A split."""
    if name == "tails":
        return heavy_tails(run)
    return sets.split(sets.table(name, options.cache, options.data), run)


def scored(part, method, epsilon, run):
    """AUC or R2 on the test part, and the number of features used."""
    made = part.table
    is_number = made.target_bounds is not None
    if method.solver is None:
        constant = np.full(len(part.y_test), np.clip(part.y, *made.target_bounds).mean())
        return r2_score(part.y_test, constant), 0
    common = {
        "epsilon": epsilon,
        "delta": part.delta,
        "bounds": Bounds(made.lower, made.upper),
        "solver": method.solver(),
        "shapes": method.shapes,
        "random_state": run,
    }
    if is_number:
        model = SparseLinearRegression(
            target_bounds=made.target_bounds, loss=method.loss, **common
        ).fit(part.X, part.y)
        score = r2_score(part.y_test, model.predict(part.X_test))
    else:
        model = SparseLogisticRegression(classes=[0, 1], **common).fit(part.X, part.y)
        score = roc_auc_score(part.y_test, model.decision_function(part.X_test))
    return score, int(np.count_nonzero(model.coef_))


def trials(name, options):
    """All lines of a set that were asked for."""
    task = "numbers" if name in NUMBERS else "classes"
    taken = [m for m in options.methods if METHODS[m].tasks in (task, "both")]
    for run in range(options.runs):
        part = part_of(name, run, options)
        for label in taken:
            if METHODS[label].solver is None and task == "classes":
                continue  # its AUC is one half
            for epsilon in EPSILONS:
                start = time.process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # every fit would say that it is seeded
                    score, used = scored(part, METHODS[label], epsilon, run)
                seconds = time.process_time() - start
                yield name, label, epsilon, run, f"{score:.6f}", used, f"{seconds:.2f}"


def kept():
    """Lines of the file."""
    if not TRIALS.exists():
        return []
    with TRIALS.open(newline="") as file:
        return [tuple(row[column] for column in COLUMNS) for row in csv.DictReader(file)]


def run_all(options):
    """Add lines, set by set; those of the same sets and methods go."""
    for name in options.sets:
        new = [tuple(map(str, line)) for line in trials(name, options)]
        redone = {line[:2] for line in new}
        lines = [line for line in kept() if line[:2] not in redone] + new
        with TRIALS.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows(sorted(lines))
        print(name, flush=True)


def table(names, lines):
    """Mean score of every method at every epsilon; of classifiers AUC, of regressions R2."""
    by_cell = {}
    for name, method, epsilon, _, score, used, _ in lines:
        by_cell.setdefault((name, method, float(epsilon)), []).append((float(score), int(used)))
    shown = [m for m in METHODS if any((n, m, e) in by_cell for n in names for e in EPSILONS)]
    rows = [f"| set | epsilon | {' | '.join(f'`{m}`' for m in shown)} |"]
    rows.append("|---|--:|" + "--:|" * len(shown))
    for name in names:
        for epsilon in EPSILONS:
            if not any((name, m, epsilon) in by_cell for m in shown):
                continue
            found = [by_cell.get((name, m, epsilon)) for m in shown]
            means = [None if cell is None else np.mean(cell, axis=0) for cell in found]
            best = max((mean[0] for mean in means if mean is not None), default=None)
            cells = ["" if mean is None else written(mean, mean[0] == best) for mean in means]
            rows.append(f"| {name} | {epsilon:g} | {' | '.join(cells)} |")
    return "\n".join(rows)


def written(mean, best):
    """Score and, in brackets, features used."""
    score = f"{mean[0]:.3f}".replace("0.", ".", 1)
    return f"{f'**{score}**' if best else score} ({mean[1]:.0f})"


def write_page():
    """The tables, between the lines of the page that somebody wrote."""
    lines = kept()
    text = PAGE.read_text()
    for mark, names in (("classes", CLASSES), ("numbers", NUMBERS)):
        start, end = f"<!-- {mark} -->\n", f"<!-- end of {mark} -->"
        before, _, rest = text.partition(start)
        text = f"{before}{start}{table(names, lines)}\n{end}{rest.partition(end)[2]}"
    PAGE.write_text(text)


def main():
    """Run or write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("verb", choices=("run", "page"))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--cache", type=Path, default=Path("cache"))
    parser.add_argument("--methods", type=lambda text: text.split(";"), default=list(METHODS))
    parser.add_argument("--sets", type=lambda text: text.split(","), default=[*CLASSES, *NUMBERS])
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    if options.verb == "run":
        run_all(options)
    write_page()


if __name__ == "__main__":
    main()

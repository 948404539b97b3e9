"""Sections of the page: probabilities, safety, the ceiling, time, and every cell."""

import numpy as np
from benchmarks.rivals.results import EPSILONS, TASKS, runs, share
from benchmarks.rivals.tables import by_epsilon, mean_of, table, title


def probabilities(results, methods):
    """Log loss, calibration error, and base rates of rare classes."""

    def fits(method, epsilon, least=0):
        return [fit for _, fit in runs(results, method, epsilon, least) if "auc" in fit]

    yield "Log loss over that of the null model, mean over fits:\n"
    yield from by_epsilon(
        results,
        methods,
        lambda m, e: mean_of((f["log_loss"] / f["null_log_loss"] for f in fits(m, e)), "{:.3f}"),
    )
    yield "Fits with a log loss above the null model's, tables of 1,000 training records or more:\n"
    yield from by_epsilon(
        results,
        methods,
        lambda m, e: share(f["log_loss"] > f["null_log_loss"] for f in fits(m, e, 1000)),
    )
    yield "Expected calibration error, ten bins of equal mass, mean over fits:\n"
    yield from by_epsilon(
        results, methods, lambda m, e: mean_of((f["ece"] for f in fits(m, e)), "{:.3f}")
    )
    yield (
        "Mean predicted probability over the base rate, classes of at most 1 in 25 and tables of "
        "10,000 training records or more: mean over fits, and the range:\n"
    )

    def ratios(method, epsilon):
        rare = [f for f in fits(method, epsilon, 10_000) if f["base_rate"] < 0.04]
        found = [f["predicted"] / f["base_rate"] for f in rare]
        return f"{np.mean(found):.2f} ({min(found):.2f} to {max(found):.2f})" if found else "-"

    yield from by_epsilon(results, methods, ratios)


def safety(results, methods):
    """Regressions worse than the null model, and the worst run of each set."""

    def below(method, epsilon):
        return share(f["r2"] < -0.02 for _, f in runs(results, method, epsilon) if "r2" in f)

    yield "Fits with R² below -0.02:\n"
    yield from by_epsilon(results, methods, below)
    for metric, name in TASKS.items():
        yield f"{name} of the worst run of each set, mean over sets:\n"

        def worst(method, epsilon, metric=metric):
            found = {}
            for set_name, fit in runs(results, method, epsilon):
                if metric in fit:
                    found[set_name] = min(found.get(set_name, 1.0), max(fit[metric], -1.0))
            return mean_of(found.values(), "{:.3f}")

        yield from by_epsilon(results, methods, worst)


def ceiling(results, ours):
    """Beside EBM without privacy, and the null model's R2 of 0, on large tables at epsilon 1."""
    lines = []
    for metric, name in TASKS.items():
        for set_name in results.sets(metric):
            n, d = results.shapes[set_name]
            best = results.mean(metric, set_name, "ebm", np.inf)
            found = [results.mean(metric, set_name, ours, e) for e in (1.0, 8.0)]
            if n >= 8000 and np.isfinite(best) and np.isfinite(found[0]):
                gaps = [f"{value:.3f} ({value - best:+.3f})" for value in found]
                lines.append([f"{set_name} ({n:,} × {d}), {name}", *gaps, f"{best:.3f}"])
    yield from table(["set", "ours, ε = 1", "ours, ε = 8", "EBM, not private"], lines)
    yield ""


def everything(results, methods, names, metric):
    """Mean of every cell; the best private mean is bold."""
    lines = []
    for name in names:
        label = "{} ({:,} × {})".format(name, *results.shapes[name])
        for epsilon in EPSILONS:
            means = [results.mean(metric, name, method, epsilon) for method in methods]
            if not np.isfinite(means).any():
                continue
            best = np.nanmax(means)
            texts = [
                "-" if np.isnan(mean) else f"**{mean:.3f}**" if mean == best else f"{mean:.3f}"
                for mean in means
            ]
            exact = results.mean(metric, name, "ebm", np.inf)
            texts.append("-" if np.isnan(exact) else f"{exact:.3f}")
            lines.append([label, f"{epsilon:g}", *texts])
            label = ""
    yield from table(["set", "ε", *map(title, methods), title("ebm")], lines)
    yield ""


def seconds(results, methods):
    """Of a fit and its predictions."""
    lines = []
    for method in (*methods, "ebm"):
        spent = [f["seconds"] for e in (*EPSILONS, np.inf) for _, f in runs(results, method, e)]
        if spent:
            lines.append(
                [title(method), f"{np.median(spent):.3g}", f"{np.mean(spent):.3g}", str(len(spent))]
            )
    yield from table(["method", "median", "mean", "fits"], lines)
    yield ""

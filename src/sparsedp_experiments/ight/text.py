"""What Tables 2 and 3 of Wang and Gu (2019) share: text sets with rows of norm one."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from sparsedp import Bounds
from sparsedp_experiments.framework.figure import COLORS, axes, level, save, series
from sparsedp_experiments.framework.fit import Gated, fitted, gated
from sparsedp_experiments.framework.table import column, markdown
from sparsedp_experiments.ight import methods

MEASURES = {"mse": "squared error", "test_error": "test error"}


STAND_INS = {"e2006": ("e2006", "imdb_rating"), "rcv1": ("rcv1", "imdb")}
"""A set of the paper, and what stands in for it where it is not to be had."""


def all_trials(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """Every method on every set; repetitions differ by their noise."""
    return [
        {"set": name, "repetition": repetition, **fit}
        for name in settings["sets"]
        for fit in methods.fits(settings["epsilons"], settings)
        for repetition in range(repetitions(fit["method"], settings))
    ]


def repetitions(method: str, settings: dict[str, Any]) -> int:
    """One where nothing is random; fewer where the TOML says so."""
    if method == methods.REFERENCE:
        return 1
    return settings["fewer"].get(method, settings["repetitions"])


@dataclass(frozen=True, eq=False)
class Records:
    """Gated training records, others to judge models by, and where they come from."""

    source: str
    train: Gated
    X: Any
    y: np.ndarray


def records(name: str, settings: dict[str, Any], data: Any) -> Records:
    """Training and test part of a set, or of its stand-in."""
    return data.kept(("text", name), lambda: _records(name, settings, data))


def _records(name: str, settings: dict[str, Any], data: Any) -> Records:
    source = data.first(*STAND_INS.get(name, (name,)))
    return _gated(source, settings, data.load(source), data.load(source, "test"))


def held_out(source: str, settings: dict[str, Any], data: Any) -> Records:
    """Four fifths of the training part, and the last fifth to choose parameters by."""
    X, y = data.load(source)
    order = np.random.default_rng(settings["held_out_seed"]).permutation(len(y))
    last, first = np.split(order, [len(y) // 5])
    X = sparse.csr_array(X)
    return _gated(source, settings, (X[first], y[first]), (X[last], y[last]))


def _gated(source: str, settings: dict[str, Any], train: Any, test: Any) -> Records:
    (X, y), (X_test, y_test) = train, test
    most = settings.get("n_features", X.shape[1])
    if X.shape[1] > most:
        generator = np.random.default_rng(settings["data_seed"])
        features = np.sort(generator.choice(X.shape[1], most, replace=False))
        X, X_test = X[:, features], X_test[:, features]
    target_bounds = settings.get("target_bounds", {}).get(source)
    if target_bounds is not None:
        # The model has no intercept: what is known in advance, the middle of the scale, is zero.
        middle, half = sum(target_bounds) / 2, (target_bounds[1] - target_bounds[0]) / 2
        y, y_test, target_bounds = y - middle, y_test - middle, (-half, half)
    bounds = Bounds(0, 1, row_norm=1)
    records = gated(unit_rows(X), y, bounds, fit_intercept=False, target_bounds=target_bounds)
    return Records(source, records, unit_rows(X_test), y_test)


def unit_rows(X: Any) -> Any:
    """Rows of norm one, or shorter: what sources have, except where features were left out."""
    X = sparse.csr_array(X)
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    if norms.max(initial=0.0) <= 1 + 1e-6:
        return X
    return sparse.csr_array(sparse.diags_array(1 / np.maximum(norms, 1.0)) @ X)


def model(trial: dict[str, Any], settings: dict[str, Any], found: Records, seed: Any) -> Any:
    """A fitted estimator."""
    return fit(trial, settings["chosen"][found.source], settings, found.train, seed)


def fit(trial: Any, chosen: dict[str, Any], settings: Any, train: Gated, seed: Any) -> Any:
    """A fitted estimator with these parameters."""
    chosen = {**chosen, "relative_step": chosen["step"] * chosen["mean_square"]}
    return fitted(
        train,
        methods.solver(trial, chosen),
        epsilon=trial["epsilon"],
        delta=settings["delta"],
        seed=seed,
        n_nonzero=min(settings["n_nonzero"], train.data.n_features),
        neighbors="replace_one",
    )


def summary(
    rows: list[dict[str, Any]], settings: dict[str, Any], value: str, digits: int, source: str
) -> str:
    """Tables of values, and of values over those of IGHT without noise, by set."""
    epsilons, printed = settings["epsilons"], settings["published"]
    parts = [
        f"## Printed in the paper: {source}, {printed['brackets']} in brackets\n",
        markdown(
            ["method", *(f"ε = {e:g}" for e in printed["epsilons"])],
            [
                [name, *(f"{m:g} ({e:g})" if e else f"{m:g}" for m, e in pairs(printed[name]))]
                for name in ("IGHT", "Frank-Wolfe", "Two stage", "DP-IGHT")
            ],
        ),
    ]
    for name in dict.fromkeys(row["set"] for row in rows):
        mine = [row for row in rows if row["set"] == name]
        parts.append(f"## {name}\n")
        parts.append(methods.result_table(mine, value, digits, epsilons, {}))
        parts.append(f"Without a model (a constant): {mine[0]['null']:.{digits}f}.\n")
        parts.append(f"Over IGHT without noise, which makes different sets ({source}) alike:\n")
        parts.append(_ratios(mine, value, epsilons, printed))
    parts.append("## What the published calibrations prove, at replace-one neighbors\n")
    parts.append(methods.proven(rows, epsilons))
    return "\n".join(parts)


def pairs(entries: list[Any]) -> list[tuple[float, float]]:
    """Means and what the paper has in brackets, as the TOML lists them."""
    return [(entry[0], entry[1]) if isinstance(entry, list) else (entry, 0.0) for entry in entries]


def _ratios(
    rows: list[dict[str, Any]], value: str, epsilons: list[float], printed: dict[str, Any]
) -> str:
    base = float(np.mean(column([r for r in rows if r["method"] == methods.REFERENCE], value)))
    lines = []
    for method in methods.COMPARED:
        found = dict(zip(printed["epsilons"], pairs(printed[method]), strict=True))
        of = printed["IGHT"][0]
        cells = [f"{found[e][0] / of:.2f}" if e in found else "" for e in epsilons]
        lines.append([f"{method}, paper", *cells])
        lines += [
            [methods.named(method, kind), *_means(rows, method, kind, value, epsilons, base)]
            for kind in ("published", "proven", "sound")
        ]
    lines.append(["Pursuit", *_means(rows, "Pursuit", "sound", value, epsilons, base)])
    lines.append(["constant", *[f"{rows[0]['null'] / base:.2f}"] * len(epsilons)])
    return markdown(["method", *(f"ε = {e:g}" for e in epsilons)], lines)


def _means(
    rows: list[dict[str, Any]],
    method: str,
    calibration: str,
    value: str,
    epsilons: list[float],
    base: float,
) -> list[str]:
    cells = []
    for epsilon in epsilons:
        key = (method, calibration, epsilon)
        mine = [r for r in rows if (r["method"], r["calibration"], r["epsilon"]) == key]
        cells.append(f"{np.mean(column(mine, value)) / base:.2f}" if mine else "")
    return cells


def picture(
    rows: list[dict[str, Any]],
    settings: dict[str, Any],
    folder: Any,
    value: str,
    source: str,
    name: str,
) -> None:
    """Errors over those of IGHT without noise: a row per set, a panel per method."""
    sets = list(dict.fromkeys(row["set"] for row in rows))
    figure, grid = axes(len(methods.COMPARED), len(sets), width=3.3, height=2.9)
    for line, panel in zip(grid, sets, strict=True):
        mine = [row for row in rows if row["set"] == panel]
        for ax, method in zip(line, methods.COMPARED, strict=True):
            _panel(ax, mine, method, settings, value, source)
        top = max(ax.get_ylim()[1] for ax in line)
        for ax in line:
            ax.set_ylim(0, top)
        line[0].set_ylabel(f"{mine[0]['source']}:\nrelative {MEASURES[value]}")
    for ax in grid[-1]:
        ax.set_xlabel("epsilon")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)
    save(figure, folder, name)


def _panel(
    ax: Any, rows: list[Any], method: str, settings: dict[str, Any], value: str, source: str
) -> None:
    """One method: as printed, with published and proven noise, improved; and Pursuit."""
    printed, epsilons = settings["published"], settings["epsilons"]
    base = float(np.mean(column([r for r in rows if r["method"] == methods.REFERENCE], value)))
    means, deviations = zip(*pairs(printed[method]), strict=True)
    of = printed["IGHT"][0]
    ax.errorbar(
        printed["epsilons"],
        np.divide(means, of),
        np.divide(deviations, of),
        label=f"paper, on {source} (bars: {printed['brackets']})",
        color=COLORS["paper"],
        marker="x",
        linewidth=0.8,
        capsize=2,
    )
    labels = {"published": "published noise", "proven": "proven noise", "sound": "improved variant"}
    for kind, label in labels.items():
        samples = [column(_rows(rows, method, kind, e), value) / base for e in epsilons]
        series(ax, epsilons, samples, label=label, color=COLORS[kind])
    samples = [column(_rows(rows, "Pursuit", "sound", e), value) / base for e in epsilons]
    series(ax, epsilons, samples, label="Pursuit", color=COLORS["pursuit"], marker="D")
    level(ax, 1.0, label="IGHT, no noise", color=COLORS["reference"])
    level(ax, rows[0]["null"] / base, label="constant", color=COLORS["null"], linestyle="-")
    ax.set_title(f"{method} (improved: {methods.IMPROVED[method]})", fontsize=8)
    ax.set_xticks(epsilons)


def _rows(rows: list[Any], method: str, kind: str, epsilon: float) -> list[Any]:
    key = (method, kind, epsilon)
    return [row for row in rows if key_of(row) == key]


def key_of(row: dict[str, Any]) -> tuple[str, str, float]:
    """Which curve and which point of it a row belongs to."""
    return row["method"], row["calibration"], row["epsilon"]

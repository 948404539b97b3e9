"""Fit the planner's law to the bank of fits, check it, and write law.json.

    PYTHONPATH=src:. python -m benchmarks.planning.fit_law --bank build/planning

Groups of tables weigh alike. Checks: leave one group out, for every group of the law; and the six
groups of `LEFT_OUT`, which the law never sees, for the page (--page).
"""

import argparse
import json
import math
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
from benchmarks.planning.bank import lines
from benchmarks.planning.tasks import LEFT_OUT
from scipy.optimize import least_squares

from sparsedp.fit.plan import FEWEST_FEATURES
from sparsedp.planning.defaults import fingerprint
from sparsedp.planning.law import LEAST_LIFT, LEVELS, Curves, lift, quality_of, terms
from sparsedp.privacy.account.gaussian import gaussian_mu

N_KNOTS = 14
MOST_DECOYS, FEWEST_GROUPS = 0.9, 5
LOWEST_R2 = -1.0
"""A model that is worse than this is as bad as one that has it."""

LEVELS_TRIED, WANTED = (0.05, 0.04, 0.03, 0.02, 0.01), 0.045
"""The lowest level of a band is the first of these with which at most so many fits of a group that
was left out lie below it: quantiles of tables that were seen are too high for others."""

PRIOR = {"binary": 0.5, "regression": 2.0, "multiclass": 4.0}
"""How heavily slopes are held near those of two classes (of which there are most tables)."""

UNIT = {"binary": 0.07, "regression": 0.15, "multiclass": 0.1}
KINDS = ("binary", "regression", "multiclass")


@dataclass(frozen=True)
class Fits:
    """Many fits of one kind, column by column."""

    kind: str
    task: np.ndarray
    group: np.ndarray
    n: np.ndarray
    epsilon: np.ndarray
    n_features: np.ndarray
    rate: np.ndarray
    spread: np.ndarray
    n_classes: np.ndarray
    mu: np.ndarray
    quality: np.ndarray
    used: np.ndarray
    decoys: np.ndarray
    ceiling: np.ndarray

    @property
    def signal(self) -> np.ndarray:
        weight = {
            "binary": self.rate * (1 - self.rate),
            "regression": np.ones_like(self.rate),
            "multiclass": 1 - self.rate,
        }
        return self.mu * self.n * weight[self.kind]

    @property
    def null(self) -> np.ndarray:
        level = {"binary": 0.5, "regression": 0.0}.get(self.kind)
        return self.rate if level is None else np.full(len(self.rate), level)

    @property
    def height(self) -> np.ndarray:
        """Lift of the ceiling."""
        return np.maximum(lift(self.kind, self.ceiling, self.null), LEAST_LIFT[self.kind])

    @property
    def kept(self) -> np.ndarray:
        """Part of the lift that the private model has."""
        return lift(self.kind, self.quality, self.null) / self.height

    @property
    def weight(self) -> np.ndarray:
        """Groups weigh alike, and tasks within them."""
        _, task, count = np.unique(self.task, return_inverse=True, return_counts=True)
        each = 1 / count[task]
        _, group = np.unique(self.group, return_inverse=True)
        total = np.bincount(group, each)
        return each / total[group] * len(each) / len(total)

    def only(self, mask: np.ndarray) -> "Fits":
        values = {f.name: getattr(self, f.name)[mask] for f in fields(self) if f.name != "kind"}
        return Fits(kind=self.kind, **values)


def loaded(bank: Path, kind: str, ceiling: str, name: str = "fits.jsonl") -> Fits:
    """All fits of a kind, with the ceiling of their task and size."""
    own = {
        (row["task"], row["n"]): row["quality"]
        for row in lines(bank / "fits.jsonl")
        if math.isinf(row["epsilon"])
    }
    roofs: dict[tuple, list[dict]] = {}
    for row in lines(bank / "ceilings.jsonl"):
        key = (row["task"], row["n"])
        if key in own or "own" in row:
            roofs.setdefault(key, []).append({**row, "own": own.get(key, row.get("own"))})
    rows = [row for row in lines(bank / name) if row["kind"] == kind]
    rows = [row for row in rows if math.isfinite(row["epsilon"])]
    rows = [row for row in rows if (row["task"], row["n"]) in roofs]
    tops = {key: np.mean([_top(each, ceiling) for each in found]) for key, found in roofs.items()}
    if ceiling.endswith("of all"):  # what is known of a table of any size
        largest = {}
        for (task, n), top in tops.items():
            largest[task] = max(largest.get(task, (0, 0.0)), (n, top))
        tops = {(task, n): max(largest[task][1], top) for (task, n), top in tops.items()}
    for row in rows:
        row["quality"] = max(row.get("quality", 0.0), LOWEST_R2)
        row["used"], row["decoys"] = row.get("used", row.get("real")), row.get("decoys", 0)
    names = ("task", "group", "n", "epsilon", "n_features", "rate", "spread", "n_classes")
    columns = {
        name: np.array([row[name] for row in rows])
        for name in (*names, "quality", "used", "decoys")
    }
    mu = {(e, d): gaussian_mu(e, d) for e, d in {(r["epsilon"], r["delta"]) for r in rows}}
    return Fits(
        kind=kind,
        mu=np.array([mu[row["epsilon"], row["delta"]] for row in rows]),
        ceiling=np.array([tops[row["task"], row["n"]] for row in rows]),
        **columns,
    )


def _top(row: dict, ceiling: str) -> float:
    if ceiling.startswith("best"):
        return max(row["boosted"], row["linear"])
    if ceiling.startswith("additive"):
        return max(row["own"], row["linear"])
    return row[ceiling.split()[0]]


def worth(fits: Fits) -> np.ndarray:
    """Tables on which there is something to find."""
    least = {"binary": 0.6, "regression": 0.08, "multiclass": 0.0}[fits.kind]
    return (fits.ceiling > least) & (fits.ceiling - fits.null > 0.05)


def shrunk(kind: str, eta: np.ndarray) -> np.ndarray:
    """The middle of the law while its index is fitted."""
    return 1 / np.sqrt(1 + np.exp(eta)) if kind == "binary" else 1 / (1 + np.exp(eta))


def fitted_index(fits: Fits, prior: np.ndarray | None) -> np.ndarray:
    """Weights of the terms, robustly."""
    columns, weight, height = terms(fits, fits.ceiling), fits.weight, fits.height
    start = np.array([-3.0, -1.2, 0.4, -0.5, 0.0]) if prior is None else prior.copy()
    center = np.zeros(4) if prior is None else start[1:]

    def residuals(p: np.ndarray) -> np.ndarray:
        eta = np.clip(columns @ p[1:], -20, 20)
        found = quality_of(fits.kind, (1 + p[0]) * height * shrunk(fits.kind, eta), fits.null)
        off = np.sqrt(weight) * (found - np.maximum(fits.quality, fits.null - 0.1))
        return np.concatenate([off / UNIT[fits.kind], PRIOR[fits.kind] * 3 * (p[2:] - center)])

    return least_squares(residuals, np.concatenate([[0.0], start]), loss="soft_l1").x[1:]


def quantiles(values: np.ndarray, weight: np.ndarray, levels: tuple[float, ...]) -> np.ndarray:
    """Of weighted values."""
    order = np.argsort(values)
    total = np.cumsum(weight[order])
    return np.interp(levels, (total - weight[order] / 2) / total[-1], values[order])


def along(knots, eta, values, weight, levels, *, falls=True) -> np.ndarray:
    """Smoothed quantiles at the knots."""
    width = 0.8 * (knots[1] - knots[0])
    found = np.array(
        [
            quantiles(values, weight * np.exp(-0.5 * ((eta - knot) / width) ** 2), levels)
            for knot in knots
        ]
    )
    return np.minimum.accumulate(found, axis=0) if falls else found


def law_of(fits: Fits, prior: np.ndarray | None, promised: float) -> Curves:
    """Index and tables."""
    index = fitted_index(fits, prior)
    eta = terms(fits, fits.ceiling) @ index
    levels = (promised, *LEVELS[1:-1], 1 - promised)
    share, many = fits.used / size_of(fits), fits.n_features > FEWEST_FEATURES
    one = np.array(list({(t, c): c for t, c in zip(fits.task, _ceil(fits), strict=True)}.values()))
    knots = np.linspace(*np.quantile(eta, (0.01, 0.99)), N_KNOTS)
    return Curves(
        knots=knots,
        index=index,
        kept=along(knots, eta, fits.kept, fits.weight, levels),
        used=along(
            knots, eta[many], share[many], fits.weight[many], (0.05, 0.5, 0.95), falls=False
        ),
        real=np.array([]),
        ceilings=tuple(np.quantile(one, (0.1, 0.9)).tolist()),
        n_groups=len(set(fits.group)),
        n_fits=len(fits.group),
    )


def real_share(bank: Path, kind: str, ceiling: str, law: Curves) -> np.ndarray:
    """Of the features in a model, the part that is there by evidence, along the index.

    A column that says nothing is as likely to be in the model as a shuffled copy: of d columns, T
    of which matter, T + f (d - T) are in it, where f is the share of copies that are. Nothing
    where models keep nearly all copies: they do not leave out what says nothing.
    """
    fits = loaded(bank, kind, ceiling, "decoys.jsonl")
    often = fits.decoys / fits.n_features
    fits = fits.only((fits.used > 0) & (often < MOST_DECOYS))
    if len(set(fits.group)) < FEWEST_GROUPS:
        return np.array([])
    often = fits.decoys / fits.n_features
    matter = (fits.used - fits.decoys) / (1 - often)
    eta = terms(fits, fits.ceiling) @ law.index
    found = along(law.knots, eta, np.clip(matter / fits.used, 0, 1), fits.weight, (0.5,))
    return found[:, 0]


def _ceil(fits: Fits) -> np.ndarray:
    """Ceilings as the plan stores them: of several classes, as shares of what guessing leaves."""
    if fits.kind == "multiclass":
        return (fits.ceiling - fits.null) / (1 - fits.null)
    return fits.ceiling


def size_of(fits: Fits) -> np.ndarray:
    """Features that a model keeps at most."""
    from sparsedp.fit.plan import default_size
    from sparsedp.solvers import Pursuit

    labelled = fits.kind != "regression"
    sizes = {d: default_size(d, Pursuit(), labelled=labelled) for d in set(fits.n_features)}
    return np.array([sizes[d] for d in fits.n_features])


def bands(law: Curves, fits: Fits) -> np.ndarray:
    """Of every fit, by the law."""
    kept = law.along(law.kept, law.eta(fits, fits.ceiling))
    null = fits.null[:, None]
    return quality_of(fits.kind, fits.height[:, None] * kept, null)


@dataclass(frozen=True)
class Check:
    """How a law does on fits that it has not seen."""

    below: float
    above: float
    width: float
    off: float
    n: int
    unweighted: float
    by_group: dict[str, float]

    @classmethod
    def of(cls, found: np.ndarray, fits: Fits) -> "Check":
        quality = fits.quality
        low, weight = quality < found[:, 0] - 1e-9, fits.weight
        return cls(
            below=float(np.average(low, weights=weight)),
            above=float(np.average(quality > found[:, -1] + 1e-9, weights=weight)),
            width=float(np.average(found[:, -1] - found[:, 0], weights=weight)),
            off=float(np.average(np.abs(found[:, 2] - quality), weights=weight)),
            n=len(low),
            unweighted=float(low.mean()),
            by_group={str(g): float(low[fits.group == g].mean()) for g in sorted(set(fits.group))},
        )


def one_left_out(fits: Fits, prior: np.ndarray | None, promised: float) -> Check:
    """Every group by the law of the others."""
    found = np.zeros((len(fits.group), len(LEVELS)))
    for group in sorted(set(fits.group)):
        mine = fits.group == group
        found[mine] = bands(law_of(fits.only(~mine), prior, promised), fits.only(mine))
    return Check.of(found, fits)


def stored(law: Curves) -> dict:
    """For law.json."""
    return {
        "knots": np.round(law.knots, 3).tolist(),
        "index": np.round(law.index, 3).tolist(),
        "kept": np.round(law.kept, 3).tolist(),
        "used": np.round(law.used, 3).tolist(),
        "real": np.round(law.real, 3).tolist(),
        "ceilings": [round(each, 2) for each in law.ceilings],
        "n_groups": law.n_groups,
        "n_fits": law.n_fits,
    }


def best_level(seen: Fits, prior: np.ndarray | None) -> tuple[float, Check]:
    """The level of the promise, and how it does on groups that are left out."""
    for promised in LEVELS_TRIED:
        check = one_left_out(seen, prior, promised)
        if check.below <= WANTED:
            break
    return promised, check


def run(options: argparse.Namespace) -> None:
    """Fit, check and write."""
    from benchmarks.planning import page

    content: dict = {"measured": {"defaults": fingerprint()}}
    prior, parts = None, []
    for kind in KINDS:
        fits = loaded(options.bank, kind, options.ceiling)
        tall = loaded(options.bank, kind, "best")
        worthy = worth(fits)
        fits, tall = fits.only(worthy), tall.only(worthy)
        apart = np.isin(fits.group, LEFT_OUT)
        seen = fits.only(~apart)
        promised, check = best_level(seen, prior)
        law = law_of(seen, prior, promised)
        law = replace(law, real=real_share(options.bank, kind, options.ceiling, law))
        content[kind] = stored(law)
        print(kind, np.round(law.index, 2), law.n_groups, "groups", law.n_fits, "fits", promised)
        if options.table:
            print(np.round(np.column_stack([law.knots, law.kept, law.used]), 2))
        print("  left out one by one:", check)
        if kind == "binary":
            prior = law.index
        if options.page is not None:
            unseen, tall = fits.only(apart), tall.only(apart)
            final = Check.of(bands(law, unseen), unseen)
            boosted = Check.of(bands(law, tall), tall)
            wrong = page.guessed(law, unseen)
            parts.append(page.Part(kind, law, promised, check, unseen, final, boosted, wrong))
    if options.out is not None:
        options.out.write_text(json.dumps(content) + "\n")
    if options.page is not None:
        page.write(parts, options.page, options.commit)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bank", type=Path, default=Path("build/planning"))
    parser.add_argument("--ceiling", default="additive", help="additive, best, own, linear")
    parser.add_argument("--table", action="store_true", help="print the law")
    parser.add_argument("--out", type=Path, help="law.json")
    parser.add_argument("--page", type=Path, help="a page, with those that the law never saw")
    parser.add_argument("--commit", help="of the fits, if it is not that of the tree")
    run(parser.parse_args())

"""What each part of Pursuit buys: scores of the fit without it, beside the whole.

    python benchmarks/ablation.py --data DIR [--sets splice,a9a] [--epsilons 0.1,1] [--runs 10]

Sets, splits and settings are those of benchmarks/pursuit.py. A variant replaces functions or
constants of the solver while it runs, so the solver itself has no switches. Noise is calibrated as
ever, but a variant may leave some of its budget unspent. Writes ablation.md beside this file when
all sets are run.
"""

import argparse
import math
import multiprocessing
import warnings
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
from pursuit import REGRESSIONS, prepared, scores

from sparsedp.mechanisms import Curator
from sparsedp.solvers.pursuit import bounds as pursuit_bounds
from sparsedp.solvers.pursuit import plan as pursuit_plan
from sparsedp.solvers.pursuit import pursuit
from sparsedp.solvers.pursuit import response as pursuit_response
from sparsedp.solvers.pursuit import step as pursuit_step

SETS = ("splice", "synthetic", "mushrooms", "phishing", "california", "cpusmall", "abalone")
EPSILONS = (0.1, 1.0)
Active, Plan = pursuit_step.ActiveSet, pursuit_plan.Plan
Logistic, Squared = pursuit_response.LogisticResponse, pursuit_response.SquaredResponse


def shares(**parts):
    """Replace the shares of the budget; together 1 again."""
    parts = vars(pursuit_plan.BOX) | parts
    box = pursuit_plan.Shares(**parts).times(1 / sum(parts.values()))
    return [(pursuit_plan, "BOX", box), (pursuit, "BOX", box)]


def without_constant(response):
    """Start from zero instead of the best constant model."""
    honest = response.__init__

    def changed(self, *arguments):
        honest(self, *arguments)
        self.intercept = np.zeros_like(self.intercept)

    return (response, "__init__", changed)


def from_the_ends_only(noisy, deviation, n_records, honest=pursuit_bounds._factors):
    """No shells about the middle."""
    noisy = noisy.copy()
    noisy[:, 2] = 10 * n_records
    return honest(noisy, deviation, n_records)


def not_whitened(self, honest=Active._whiten):
    """Gradient steps whose length the largest eigenvalue of the noisy Gram matrix sets."""
    honest(self)
    size, n = len(self.weights), self._response.n_records
    values = np.linalg.eigvalsh(self._gram[:size, :size] / n)
    largest = max(float(values[-1]), 1e-4)
    one = np.eye(size)
    self._metric, self._norm = largest * one, math.sqrt(max(float(values.sum()), 1) / largest)
    self._change_coordinates(one / math.sqrt(largest), one * math.sqrt(largest))


def step_of_the_fit_only(self, share, phase, centering=0.0, honest=Active.step):
    """Nothing moves between selections."""
    return honest(self, share, phase, centering) if phase > 0.1 else 0.0


def fixed_curvature(self, sums, share, unit_noise):
    """That of the best constant model; spread of the residuals as at the start."""
    return self.curvature


NO_CURVATURE = [
    (pursuit_step, "CURVATURE_SHARE", 0.0),
    (Logistic, "curvatures", fixed_curvature),
    (Squared, "curvatures", fixed_curvature),
]
VARIANTS = {
    "all parts": [],
    "no best constant to start from": [without_constant(Logistic), without_constant(Squared)],
    "no tighter bounds": [
        (pursuit, "tightened", lambda data, moments, n_records, share: (data, share))
    ],
    "bounds tighter from the ends only": [(pursuit_bounds, "_factors", from_the_ends_only)],
    "one round of selection": [(Plan, "rounds", lambda self, *noise: [self.size])],
    "one feature a round": [(Plan, "rounds", lambda self, *noise: [1] * self.size)],
    "no whitening": [(Active, "_whiten", not_whitened)],
    "no floor under the Gram matrix": [(pursuit, "FLOOR", 0.0)],
    "no release of curvature or spread": NO_CURVATURE,
    "curvature believed in full": [(pursuit_response, "_trust", lambda curvature, noise: 1.0)],
    "no steps between selections": [
        (Active, "step", step_of_the_fit_only),
        *shares(middle=0.005),
    ],
    "no averaging": [(pursuit, "N_AVERAGED", 1)],
    "half as many steps": [(pursuit, "N_STEPS", 4), (pursuit, "N_AVERAGED", 4)],
    "twice as many steps": [(pursuit, "N_STEPS", 16), (pursuit, "N_AVERAGED", 16)],
    "steps of any length": [(pursuit_step, "LONGEST_STEP", 1e9)],
    "clip at 1 r.m.s. norm": [(pursuit_step, "clip_factor", lambda signal: 1.0)],
    "clip at 1/4 r.m.s. norm": [(pursuit_step, "clip_factor", lambda signal: 0.25)],
    "no residual clip in selection": [
        (Logistic, "selection_norm", lambda self, *rest: 1.0),
        (Squared, "selection_norm", lambda self, *rest: self._largest),
    ],
}


def score(cell, folder, runs):
    """Scores of a variant on one set at one budget."""
    name, epsilon, variant = cell
    with ExitStack() as changes, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        changes.enter_context(patch.object(Curator, "close", lambda self: None))
        for owner, attribute, value in VARIANTS[variant]:
            changes.enter_context(patch.object(owner, attribute, value))
        return cell, scores(name, prepared(name, folder), epsilon, runs)


def page(found, sets, epsilons, runs):
    """The table: means, and their mean difference from the whole over all sets."""
    lines = [
        "# What each part of Pursuit buys",
        "",
        f"Generated by `python benchmarks/ablation.py --data DIR` ({runs} runs each; the same "
        "seeds, but a",
        "change of the questions changes all noise). Mean AUC, R2 for "
        + ", ".join(name for name in sets if name in REGRESSIONS)
        + "; in brackets after the name",
        "of a set the standard error of the first line. *AUC* and *R2* are mean differences from",
        "the first line over the sets of a kind, with their standard errors.",
        "",
    ]
    for epsilon in epsilons:
        whole = {name: np.array(found[name, epsilon, "all parts"]) for name in sets}
        heads = [f"{n} ({w.std(ddof=1) / math.sqrt(runs):.3f})" for n, w in whole.items()]
        lines += [f"## epsilon = {epsilon:g}", ""]
        lines += [f"| variant | {' | '.join(heads)} | AUC | R2 |", "|---" * (len(sets) + 3) + "|"]
        for variant in VARIANTS:
            here = {name: np.array(found[name, epsilon, variant]) for name in sets}
            cells = [f"{values.mean():.3f}" for values in here.values()]
            for kind in (
                [name for name in sets if name not in REGRESSIONS],
                [name for name in sets if name in REGRESSIONS],
            ):
                if not kind or variant == "all parts":
                    cells.append("")
                    continue
                change = [np.mean(here[name] - whole[name]) for name in kind]
                error = [np.var(here[n] - whole[n], ddof=1) / runs for n in kind]
                spread = math.sqrt(sum(error)) / len(kind)
                cells.append(f"{np.mean(change):+.4f} ({spread:.4f})")
            lines.append(f"| {variant} | {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def main():
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--epsilons", default=",".join(map(str, EPSILONS)))
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    sets = options.sets.split(",")
    epsilons = [float(epsilon) for epsilon in options.epsilons.split(",")]
    cells = [(name, epsilon, v) for name in sets for epsilon in epsilons for v in VARIANTS]
    with multiprocessing.Pool(options.processes) as pool:
        run = partial(score, folder=options.data, runs=options.runs)
        found = dict(pool.imap_unordered(run, cells))
    text = page(found, sets, epsilons, options.runs)
    print(text)
    if sets == list(SETS) and epsilons == list(EPSILONS):
        Path(__file__).with_suffix(".md").write_text(text.rstrip() + "\n")


if __name__ == "__main__":
    main()

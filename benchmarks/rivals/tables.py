"""Markdown tables of results: a line for each method, or for each cell."""

import numpy as np
from benchmarks.rivals.results import EPSILONS

TITLES = {
    "ours": "sparsedp, defaults",
    "noisy_gd": "sparsedp, `noisy_gd`",
    "objective_perturbation": "sparsedp, `objective_perturbation`",
    "dp_ebm": "DP-EBM",
    "dp_ebm_fast": "DP-EBM, learning rate 0.1",
    "dp_ebm_joined": "DP-EBM, categories joined",
    "dp_ebm_joined_fast": "DP-EBM, joined, rate 0.1",
    "adassp": "AdaSSP",
    "boosted_adassp": "BoostedAdaSSP",
    "dp_sgd": "DP-SGD",
    "diffprivlib": "diffprivlib",
    "ebm": "EBM, not private",
    "null": "null model",
}
NOT_PRIVATE = ("ebm", "null")


def table(head, lines):
    """Of Markdown; the first column to the left."""
    yield "| " + " | ".join(head) + " |"
    yield "|---|" + "--:|" * (len(head) - 1)
    for line in lines:
        yield "| " + " | ".join(line) + " |"


def title(method):
    """Of a method; a label that is not known stands for itself."""
    return TITLES.get(method, method)


def by_epsilon(results, methods, cell):
    """A table with a line for each method, where any cell has something to say."""
    lines = []
    for method in methods:
        line = [cell(method, epsilon) for epsilon in EPSILONS]
        if any(text != "-" for text in line):
            lines.append([title(method), *line])
    yield from table(["method", *(f"ε = {e:g}" for e in EPSILONS)], lines)
    yield ""


def mean_of(values, form):
    """Text of a mean."""
    values = list(values)
    return form.format(np.mean(values)) if values else "-"

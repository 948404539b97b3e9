"""Khanna et al. (2024): what Table 1 prints, computed again from its own columns."""

import math
from collections.abc import Iterator

from sparsedp.audit.errata.erratum import Erratum, Finding, aligned

PAPER = "Khanna et al. (2024)"

TABLE_1 = {
    # set: non-zeros without privacy; of Private LASSO and their ratio; of Sparsifier and theirs
    "kddcup99": (4, (106.90, 26.75), (16.10, 4.29)),
    "covtype": (17, (30.38, 3.18), (11.78, 0.68)),
    "splice": (52, (60.00, 1.15), (12.70, 0.24)),
    "phishing": (2, (68.00, 34.00), (12.02, 6.16)),
    "synthetic": (7, (100.00, 14.29), (15.08, 2.29)),
    "mushroom": (16, (111.98, 7.00), (16.02, 1.04)),
    "a9a": (19, (122.90, 6.47), (18.06, 0.89)),
    "w8a": (20, (285.64, 14.44), (25.60, 1.35)),
    "colon": (58, (785.72, 13.56), (68.16, 1.12)),
    "gisette": (77, (901.30, 11.67), (102.50, 1.43)),
}
HALF = 0.005 + 1e-9
"""Half of the last digit that is printed."""


def _ratios() -> Finding:
    heads: list[object] = ["", "quotient", "printed", "", "quotient", "printed", ""]
    rows: list[list[object]] = [["", "Private LASSO", "", "", "Sparsifier", "", ""]]
    rows.append(heads)
    wrong = 0
    for name, (count, *pairs) in TABLE_1.items():
        row: list[object] = [name]
        for nonzeros, ratio in pairs:
            quotient = nonzeros / count
            off = abs(quotient - ratio) > HALF * (1 + 1 / count)
            wrong += off
            row += [f"{quotient:.3f}", f"{ratio:.2f}", "differs" if off else ""]
        rows.append(row)
    return Finding(
        stands=wrong > 0,
        table=aligned(rows),
        measured=(("found", f"{wrong} of {2 * len(TABLE_1)} ratios are not the quotients"),),
    )


def _random_picks() -> Finding:
    steps, trials = 1000, 50
    rows: list[list[object]] = [["", "features", "random picks", "error", "printed", "deviations"]]
    off, share = {}, 1.0
    for name, features in (("colon", 2000), ("gisette", 5000)):
        printed = TABLE_1[name][1][0]
        missed, both = (1 - 1 / features) ** steps, (1 - 2 / features) ** steps
        mean = features * (1 - missed)
        variance = features * (missed - both) + features**2 * (both - missed**2)
        error = math.sqrt(variance / trials)
        off[name], share = (printed - mean) / error, abs(printed / mean - 1)
        cells = f"{mean:.1f}", f"{error:.1f}", f"{printed:.2f}", f"{off[name]:+.1f}"
        rows.append([name, features, *cells])
    return Finding(
        stands=abs(off["colon"]) < 3 and share < 0.01,
        table=aligned(rows),
        measured=(
            (
                "found",
                "on colon the printed count is that of picks made without data, on gisette it "
                f"differs by {100 * share:.1f} %",
            ),
        ),
    )


def _kddcup() -> Finding:
    features, trials = 41, 50
    most = 2 * math.sqrt(features)
    lasso, sparsifier = (pair[0] for pair in TABLE_1["kddcup99"][1:])
    return Finding(
        stands=lasso > features and sparsifier > math.ceil(most),
        measured=(
            ("claimed", f"{features} features"),
            ("found", f"{lasso} non-zeros of Private LASSO on average of {trials} trials"),
            ("found", f"{sparsifier} of Sparsifier, whose upper limit 2 sqrt(p) is {most:.1f}"),
        ),
    )


def errata() -> Iterator[Erratum]:
    """In the order of the columns."""
    yield Erratum(
        name="table1-kddcup",
        paper=PAPER,
        reference="Table 1 and Section 4.1",
        claim="KDDCUP'99 has 41 features, and Private LASSO finds 106.90 non-zero coefficients "
        "in it.",
        why="A model has no more non-zero coefficients than features, and Sparsifier keeps at "
        "most 2 sqrt(41). A count of 16.10 = 1.5 sqrt(p) belongs to about 115 features: text "
        "columns written as 0/1 columns give 119.",
        convict=_kddcup,
        instead="The reproduction states its 119 columns.",
        verdict="both numbers cannot be right",
    )
    yield Erratum(
        name="table1-ratios",
        paper=PAPER,
        reference="Table 1, both columns RATIO",
        claim="RATIO is the number of non-zeros over that of the model without privacy.",
        why="The quotients of the printed columns are compared with the printed ratios; a ratio "
        "differs if rounding of what is printed cannot explain it. A count without privacy that "
        "was itself a rounded mean does not explain it either: for covtype the two ratios would "
        "need 9.6 and 17.3.",
        convict=_ratios,
        instead="Quotients, as in the reproduction.",
        verdict="the ratios are not quotients of the columns beside them",
    )
    yield Erratum(
        name="table1-random-picks",
        paper=PAPER,
        reference="Table 1, Private LASSO on COLON and GISETTE",
        claim="785.72 and 901.30 coefficients are what Private LASSO finds in these sets.",
        why="1000 picks among d features by chance, without any data, touch d (1 - (1 - "
        "1/d)^1000) of them; mean and standard deviation of this number, and hence of a mean over "
        "50 trials, are known exactly.",
        convict=_random_picks,
        instead="Fewer steps, or selections with less noise: FrankWolfe, Pursuit.",
        verdict="the counts are those of random picks: they tell the noise, not the sets",
    )

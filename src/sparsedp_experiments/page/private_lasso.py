"""Tables of the page about Khanna et al. (2024)."""

from dataclasses import dataclass

import numpy as np

from sparsedp_experiments.framework.table import grouped, markdown
from sparsedp_experiments.page.results import Results
from sparsedp_experiments.private_lasso import comparison, methods, sets, table2

COUNTS, SCORES = "private-lasso/table1", "private-lasso/table2"
SYNTHETIC, CONNECTIONS = "private-lasso/figure1", "private-lasso/figure5"
KINDS = ("published", "proven", "sound")


@dataclass(frozen=True)
class PrivateLasso:
    """What the template asks for."""

    results: Results

    def mean(
        self, name: str, method: str, kind: str | None, column: str = "n_nonzero", key: str = COUNTS
    ) -> float:
        """A cell of Table 1 or 2."""
        return self.results.mean(key, column, set=name, method=method, calibration=kind)

    def sets(self) -> list[str]:
        """In the order of the paper, variants last."""
        return list(grouped(self.results.rows[COUNTS], "set"))

    def named(self, name: str) -> str:
        """With what stands in for it."""
        return sets.named(name, self.results.where(COUNTS, set=name))

    def counts(self) -> str:
        """Table 1."""
        printed = self.results.settings[COUNTS]["published"]
        lines = []
        for name in self.sets():
            line = [
                self.named(name),
                self.results.where(COUNTS, set=name)[0]["n_features"],
                printed["nonprivate"][name],
                *(f"{self.mean(name, m, None):.0f}" for m in ("nonprivate", "optimum")),
            ]
            for method in ("private_lasso", "sparsifier"):
                line.append(printed[method][name][0])
                line += [f"{self.mean(name, method, kind):.1f}" for kind in KINDS]
            lines.append([*line, f"{self.mean(name, 'pursuit', 'sound'):.1f}"])
        header = ["data set", "features", "no privacy: paper", "Frank-Wolfe", "optimum"]
        for method in ("private_lasso", "sparsifier"):
            header.append(f"{methods.NAMES[method]}: paper")
            header += ["published", "proven", methods.IMPROVED[method]]
        return markdown([*header, "Pursuit"], lines)

    def score(self, name: str, method: str, kind: str | None, column: str) -> float:
        """Accuracy or AUC in percent: rows of Table 2, or of Table 1 where it shows these."""
        key = SCORES if method in ("matched", "stopped") else COUNTS
        return 100 * self.mean(name, method, kind, column, key)

    def scores(self, column: str) -> str:
        """Table 2: "accuracy" or "auc"."""
        printed = self.results.settings[SCORES]["published"]
        place = {"accuracy": 1, "auc": 2}[column]
        lines = []
        for name in self.sets():
            line = [self.named(name)]
            for method, paper in (("sparsifier", "sparsifier"), ("matched", "private_lasso")):
                line.append(printed[paper][name][place])
                line += [f"{self.score(name, method, kind, column):.1f}" for kind in KINDS]
            others = (("stopped", "published"), ("pursuit", "sound"), ("optimum", None))
            lines.append([*line, *(f"{self.score(name, m, k, column):.1f}" for m, k in others)])
        header = ["data set"]
        for method, paper in (("sparsifier", "sparsifier"), ("matched", "private_lasso")):
            header.append(f"{methods.NAMES[paper]}: paper")
            header += ["published", "proven", methods.IMPROVED[method]]
        return markdown([*header, "stopped", "Pursuit", "no privacy"], lines)

    def better(self, method: str, column: str, kind: str) -> list[str]:
        """Sets of the paper on which a method beats the other by the signed-rank test."""
        level = self.results.settings[SCORES]["level"]
        found = []
        for name in self.paper_sets():
            left = self.results.where(COUNTS, set=name, method="sparsifier", calibration=kind)
            right = self.results.where(SCORES, set=name, method="matched", calibration=kind)
            first, second = table2.marks(left, right, column, level)
            if first if method == "sparsifier" else second:
                found.append(name)
        return found

    def paper_sets(self) -> list[str]:
        """Without the variants as they were downloaded."""
        return [name for name in self.sets() if name not in sets.AS_DOWNLOADED]

    def best_private(self, column: str) -> list[str]:
        """Sets and variants on which Pursuit has the best score of all private methods."""
        rivals = [(m, kind) for m in ("sparsifier", "matched") for kind in KINDS]
        return [
            name
            for name in self.sets()
            if self.score(name, "pursuit", "sound", column)
            >= max(self.score(name, m, k, column) for m, k in [*rivals, ("stopped", "published")])
        ]

    def curve(self, key: str, metric: str, method: str, kind: str) -> dict[float, float]:
        """Means by epsilon."""
        found = comparison.curves(self.results.rows[key], metric)[method, kind]
        return {epsilon: float(np.mean(values)) for epsilon, values in found.items()}

    def curves(self, key: str, metric: str, digits: int) -> str:
        """A line per method and calibration, Pursuit last, then models without privacy."""
        rows = self.results.rows[key]
        epsilons = sorted({row["epsilon"] for row in rows if "epsilon" in row})
        lines = []
        for kind in KINDS:
            for method in ("sparsifier", *comparison.OTHERS):
                values = self.curve(key, metric, method, kind)
                lines.append([methods.named(method, kind), *_cells(values, epsilons, digits)])
        values = self.curve(key, metric, "pursuit", "sound")
        lines.append(["Pursuit", *_cells(values, epsilons, digits)])
        exact = f"{comparison.reference(rows, 'optimum', metric):.{digits}f}"
        lines.append(["no privacy", *[exact] * len(epsilons)])
        return markdown(["", *(f"ε = {epsilon:g}" for epsilon in epsilons)], lines)

    def lowest(self, key: str, metric: str) -> list[float]:
        """Epsilons at which Pursuit has the lowest mean of all private methods."""
        rivals = comparison.curves(self.results.rows[key], metric)
        ours = self.curve(key, metric, "pursuit", "sound")
        return [
            epsilon
            for epsilon, value in ours.items()
            if all(value <= float(np.mean(of[epsilon])) for of in rivals.values())
        ]

    def agrees(self, method: str, tolerance: float) -> list[str]:
        """Sets of the paper on which the published count is near the printed one."""
        printed = self.results.settings[COUNTS]["published"][method]
        return [
            name
            for name in self.paper_sets()
            if abs(self.mean(name, method, "published") / printed[name][0] - 1) <= tolerance
        ]

    def above_print(self, column: str) -> list[str]:
        """Sets of the paper on which both methods do better than printed, with its noise."""
        printed = self.results.settings[SCORES]["published"]
        place = {"accuracy": 1, "auc": 2}[column]
        pairs = (("sparsifier", "sparsifier"), ("matched", "private_lasso"))
        return [
            name
            for name in self.paper_sets()
            if all(
                self.score(name, method, "published", column) > printed[paper][name][place]
                for method, paper in pairs
            )
        ]

    def winner(self, key: str, metric: str, epsilon: float) -> str:
        """The private method with the lowest mean."""
        found = comparison.curves(self.results.rows[key], metric)
        best = min(found, key=lambda which: float(np.mean(found[which][epsilon])))
        return methods.named(*best)

    def repetitions(self, key: str, **wanted: str) -> int:
        """Runs of a method at each setting."""
        return 1 + max(row["repetition"] for row in self.results.where(key, **wanted))


def random_picks(n_features: int, n_steps: int) -> float:
    """Features that so many uniformly random picks touch, in expectation."""
    return n_features * (1 - (1 - 1 / n_features) ** n_steps)


def _cells(values: dict[float, float], epsilons: list[float], digits: int) -> list[str]:
    return [f"{values[epsilon]:.{digits}f}" for epsilon in epsilons]

"""Tables of the page about Wang and Gu (2019)."""

import math
from dataclasses import dataclass
from typing import Any

from scipy.optimize import brentq

from sparsedp.privacy.account.gaussian import gaussian_delta
from sparsedp_experiments.framework.table import markdown
from sparsedp_experiments.ight import methods, text
from sparsedp_experiments.page.results import Results

PICTURE = "ight/figure1"
TABLES = {"ight/table2": "mse", "ight/table3": "test_error"}
KINDS = ("published", "proven", "sound")
LINES = [(method, kind) for method in methods.COMPARED for kind in KINDS]


@dataclass(frozen=True)
class Ight:
    """What the template asks for."""

    results: Results

    def error(self, panel: str, method: str, kind: str, epsilon: float) -> float:
        """Of a panel of Figure 1."""
        return self.results.mean(
            PICTURE, "relative_error", set=panel, method=method, calibration=kind, epsilon=epsilon
        )

    def panels(self) -> list[str]:
        """Of Figure 1."""
        return list(self.results.settings[PICTURE]["panels"])

    def epsilons(self) -> list[float]:
        """Of all experiments of the paper."""
        return list(self.results.settings[PICTURE]["epsilons"])

    def relative_errors(self) -> str:
        """Figure 1 at the smallest and the largest epsilon."""
        ends = (self.epsilons()[0], self.epsilons()[-1])
        columns = [(panel, epsilon) for panel in self.panels() for epsilon in ends]
        lines = [
            ["IGHT, no noise"]
            + [f"{self.error(p, methods.REFERENCE, 'none', math.inf):.3f}" for p, _ in columns]
        ]
        for method, kind in [*LINES, ("Pursuit", "sound")]:
            cells = [f"{self.error(panel, method, kind, e):.3f}" for panel, e in columns]
            lines.append([methods.named(method, kind), *cells])
        header = ["", *(f"{panel.replace('-', ', ')}: ε = {e}" for panel, e in columns)]
        return markdown(header, lines)

    def beaten(self) -> list[str]:
        """Where another private method has a lower error than Pursuit, and which."""
        found = []
        for panel in self.panels():
            for e in self.epsilons():
                best = min(LINES, key=lambda line: self.error(panel, *line, e))
                if self.error(panel, *best, e) < self.error(panel, "Pursuit", "sound", e):
                    found.append(f"{panel} at {e} (*{methods.named(*best)}*)")
        return found

    def sources(self) -> dict[tuple[str, str], str]:
        """What was read for each set of Tables 2 and 3."""
        return {
            (key, row["set"]): row["source"] for key in TABLES for row in self.results.rows[key]
        }

    def ratio(self, key: str, name: str, method: str, kind: str, epsilon: float) -> float:
        """Error over that of IGHT without noise."""
        of = {"set": name, "method": methods.REFERENCE}
        base = self.results.mean(key, TABLES[key], **of)
        if method == "constant":
            return self.results.where(key, **of)[0]["null"] / base
        where = {"set": name, "method": method, "calibration": kind, "epsilon": epsilon}
        return self.results.mean(key, TABLES[key], **where) / base

    def printed(self, key: str, method: str, epsilon: float) -> float:
        """The same ratio of what the paper prints."""
        of = self.results.settings[key]["published"]
        value = text.pairs(of[method])[of["epsilons"].index(epsilon)][0]
        return value / of["IGHT"][0]

    def ratios(self) -> str:
        """Tables 2 and 3 at the smallest and the largest epsilon."""
        ends = (self.epsilons()[0], self.epsilons()[-1])
        columns = [(key, name, e) for key, name in self.sources() for e in ends]
        lines: list[list[Any]] = []
        for method in methods.COMPARED:
            cells = [f"{self.printed(key, method, e):.2f}" for key, _, e in columns]
            lines.append([f"{method}, paper", *cells])
            for kind in KINDS:
                cells = [f"{self.ratio(k, name, method, kind, e):.2f}" for k, name, e in columns]
                lines.append([methods.named(method, kind), *cells])
        for method in ("Pursuit", "constant"):
            cells = [f"{self.ratio(k, name, method, 'sound', e):.2f}" for k, name, e in columns]
            lines.append([method, *cells])
        header = [""]
        for key, name, e in columns:
            paper = "E2006" if key == "ight/table2" else "RCV1"
            header.append(f"{paper} / `{self.sources()[key, name]}`: ε = {e}")
        return markdown(header, lines)

    def proves(self, method: str, epsilon: float) -> float:
        """What the published calibration proves at a claimed epsilon, at worst."""
        rows = self.results.where(PICTURE, method=method, calibration="published", epsilon=epsilon)
        return max(row["proven_epsilon"] for row in rows)


def remark_over_corollary(epsilon: float, delta: float) -> float:
    """Variance of Remark 5.3 over that of Corollary 5.8, at equal steps and Lipschitz constants."""
    log = math.log(1 / delta)
    return (1 / (math.sqrt(log + epsilon) - math.sqrt(log)) ** 2) / (log / epsilon**2)


def corollary_epsilon(epsilon: float, delta: float) -> float:
    """What the noise of Corollary 5.8 proves, exactly, when one record is replaced by another.

    All steps together are one Gaussian release: a mean gradient moves by at most 2 K / n, so that
    mu^2 = T (2 K / n)^2 / sigma^2 = 4 epsilon^2 / log(1 / delta).
    """
    mu = 2 * epsilon / math.sqrt(math.log(1 / delta))
    root: Any = brentq(lambda e: gaussian_delta(e, mu) - delta, 0, 100 * epsilon)
    return root

"""Tables of the page about Hoseinpour et al. (2023)."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsedp_experiments.framework.table import markdown, standard_error
from sparsedp_experiments.page.results import Results
from sparsedp_experiments.pretraining import boundary, curves, fits

TABLE = "pretraining/table1"
SHOWN = (0.01, 0.1, 0.5, 1, 10, 150)


@dataclass(frozen=True)
class Pretraining:
    """What the template asks for."""

    results: Results

    def accuracy(self, name: str, method: str, start: str, epsilon: float = math.inf) -> float:
        """Training accuracy in percent."""
        return self.results.mean(
            TABLE, "training_accuracy", set=name, method=method, start=start, epsilon=epsilon
        )

    def larger_class(self, name: str) -> float:
        """In percent."""
        return self.results.mean(TABLE, "majority", set=name)

    def largest_error(self, name: str) -> float:
        """The largest standard error of a cell."""
        return max(
            standard_error(
                [
                    row["training_accuracy"]
                    for row in self.results.where(
                        TABLE, set=name, method=method, start=start, epsilon=epsilon
                    )
                ]
            )
            for method in fits.METHODS
            for start in ("zero", "public")
            for epsilon in SHOWN
        )

    def accuracies(self, name: str) -> str:
        """Table 1 on one set."""
        printed = self.results.settings[TABLE]["published"]
        lines: list[list[Any]] = []
        for start in ("zero", "public"):
            known = dict(zip(printed["epsilons"], printed[start], strict=True))
            lines.append(["paper, its data", start, *(f"{known[e]:.2f}" for e in SHOWN)])
            for method in fits.METHODS:
                cells = [f"{self.accuracy(name, method, start, e):.1f}" for e in SHOWN]
                lines.append([fits.LABELS[method], start, *cells])
        alone = f"{self.accuracy(name, 'public model alone', 'public'):.1f}"
        lines.append(["public model alone", "", *[alone] * len(SHOWN)])
        lines.append(["larger class", "", *[f"{self.larger_class(name):.1f}"] * len(SHOWN)])
        return markdown(["", "start", *(f"ε = {e:g}" for e in SHOWN)], lines)

    def below_null(self, figure: str, name: str, method: str) -> tuple[int, int]:
        """Runs that end below the loss of the class shares, and all runs."""
        rows = self.results.where(f"pretraining/{figure}", set=name, method=method)
        return sum(curves.curve(row)[-1] < row["null_loss"] for row in rows), len(rows)

    def angle(self, figure: str, method: str) -> float:
        """By how many degrees boundaries turn on average."""
        key = f"pretraining/{figure}"
        exact = self.results.where(key, method="no noise")[0]
        return float(
            np.mean([boundary.angle(r, exact) for r in self.results.where(key, method=method)])
        )

    def boundary(self, figure: str, method: str) -> float:
        """Training accuracy in percent."""
        return self.results.mean(f"pretraining/{figure}", "training_accuracy", method=method)

"""Tables of the page about Khanna et al. on private screening rules."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsedp_experiments.framework.table import markdown, standard_error
from sparsedp_experiments.page.results import Results
from sparsedp_experiments.screening import figure1, figure2, fits

BARS, GAPS = "screening/figure1", "screening/figure2"
KINDS = ("published", "proven", "sound")
WORDS = {
    "every 1": "a few left at most",
    "every 50": "no discrimination",
    "end": "no discrimination",
}


@dataclass(frozen=True)
class Screening:
    """What the template asks for."""

    results: Results

    def percent(self, key: str, column: str, **where: Any) -> tuple[float, float]:
        """Mean and standard error, in percent."""
        values = [100 * row[column] for row in self.results.where(key, **where)]
        return float(np.mean(values)), standard_error(values)

    def kept(self, key: str, **where: Any) -> str:
        """Of the true non-zeros and of the true zeros."""
        parts = [self.percent(key, column, **where) for column in ("true_kept", "false_kept")]
        return " and ".join(f"{mean:.1f} ± {error:.1f}" for mean, error in parts)

    def bars(self) -> str:
        """Figure 1."""
        printed = self.results.settings[BARS]["published"]
        rows: list[tuple[str, str, str, str]] = [
            (
                "no noise, printed rule, every iteration",
                "printed rule, no noise",
                "none",
                f"{printed['no_noise_true']} and {printed['no_noise_false']}",
            ),
            ("no noise, safe rule, every iteration", "safe rule, no noise", "none", ""),
        ]
        for kind in KINDS:
            rows += [
                (
                    fits.named(schedule, kind),
                    schedule,
                    kind,
                    WORDS[schedule] if kind == "published" else "",
                )
                for schedule in self.results.settings[BARS]["schedules"]
            ]
        rows += [(f"`{method}`", method, "sound", "") for method in figure1.INSTEAD]
        lines = [
            [label, words]
            + [
                self.kept(BARS, set=task, method=method, calibration=kind)
                for task in self.results.settings[BARS]["tasks"]
            ]
            for label, method, kind, words in rows
        ]
        return markdown(["", "the paper says", *self.results.settings[BARS]["tasks"]], lines)

    def gap(self, task: str, steps: str) -> float:
        """Wolfe gap after the last step."""
        rows = self.results.where(GAPS, set=task, steps=steps)
        return float(np.mean([figure2.numbers(row["gaps"])[-1] for row in rows]))

    def nothing_screened(self) -> bool:
        """Whether all weights stay in Experiment A, with published and with proven noise."""
        rows = self.results.rows["screening/experiment-a"]
        private = [row for row in rows if row["calibration"] != "sound"]
        return all(row["true_kept"] == 1 and row["false_kept"] == 1 for row in private)

    def half(self, letter: str, schedule: str, kind: str, task: str) -> str:
        """Experiments A and B."""
        key = f"screening/experiment-{letter}"
        return self.kept(key, set=task, schedule=schedule, calibration=kind)

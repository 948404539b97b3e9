"""The set and the fits of all experiments of Khanna et al. on private screening rules."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from sparsedp.data.dataset import Dataset
from sparsedp.data.synthetic import Task, khanna_screening
from sparsedp.losses import Logistic, Loss, Squared
from sparsedp.mechanisms import Answers, KeyStream, NoiselessCurator, NoisyCurator
from sparsedp.mechanisms.questions.perturbation import Perturbation
from sparsedp.mechanisms.questions.selection import Selection
from sparsedp.privacy import Budget, PublicFacts
from sparsedp.solvers import (
    FrankWolfe,
    NoisyMinScreening,
    Pursuit,
    Screened,
    ScreenedFrankWolfe,
    Solver,
)
from sparsedp_experiments.framework.figure import COLORS, axes, save
from sparsedp_experiments.framework.fit import noise_seed
from sparsedp_experiments.framework.table import (
    column,
    grouped,
    markdown,
    mean_error,
    standard_error,
)

COLUMNS = ("true_kept", "false_kept", "n_nonzero")
KINDS = {"published": "published noise", "proven": "proven noise", "sound": "safe rule"}
IMPROVED = "safe rule"
"""The improved variant of the paper's algorithm: another rule, another start."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """Records of one repetition behind the gate, and the truth."""

    data: Dataset
    loss: Loss
    true: np.ndarray
    half_range: float

    @property
    def public(self) -> PublicFacts:
        """What a solver may know; the number of records is public, as in the paper."""
        return PublicFacts(
            n_features=self.data.n_features,
            n_nonzero=int(self.true.sum()),
            intercept=False,
            neighbors="replace_one",
            n_records=self.data.n_records,
        )

    def kept(self, weights: np.ndarray) -> dict[str, Any]:
        """Which part of the true non-zero and of the true zero weights is not zero."""
        used = weights != 0
        return {
            "true_kept": float(np.mean(used[self.true])),
            "false_kept": float(np.mean(used[~self.true])),
            "n_nonzero": int(used.sum()),
        }


def drawn(task: Task, repetition: int, settings: dict[str, Any]) -> Drawn:
    """The set of the paper, a new one in every repetition."""
    sizes = (settings["n_records"], settings["n_features"], settings["n_true"])
    return _drawn(task, repetition, *sizes, settings["data_seed"], settings["target_bound"])


@lru_cache(maxsize=1)
def _drawn(
    task: Task, repetition: int, n: int, d: int, n_true: int, seed: int, limit: float
) -> Drawn:
    made = khanna_screening(n, d, n_true, task, seed=[seed, repetition, task == "linear"])
    if task == "linear":
        data = Dataset.clip(
            made.X, made.y, made.bounds, target_bounds=(-limit, limit), intercept=False
        )
        return Drawn(data, Squared(), made.weights != 0, limit)
    data = Dataset.clip(made.X, made.y, made.bounds, classes=(0, 1), intercept=False)
    return Drawn(data, Logistic(), made.weights != 0, 1.0)


@dataclass(frozen=True)
class Mixed:
    """Answers some questions with noise and some without: to see which noise does the harm.

    Nothing that comes out of it is private.
    """

    noisy: Answers
    exact: type
    """The kind of question that is answered exactly."""
    noiseless = False

    def quick(self, walk: Any) -> None:
        """One by one."""

    def answer(self, question: Any, event: Any, name: str | None) -> Any:
        """Either way."""
        if isinstance(question, self.exact):
            return question.exact()
        return self.noisy.answer(question, event, name)


def rule(schedule: str, calibration: str, records: Drawn, settings: dict[str, Any]) -> Solver:
    """The paper's algorithm; a schedule is "every 1", "every 50" or "end"."""
    return ScreenedFrankWolfe(
        radius=settings["radius"] / records.half_range,
        n_steps=settings["n_steps"],
        screen_every="end" if schedule == "end" else int(schedule.split()[1]),
        calibration=calibration,
    )


def other(method: str, records: Drawn, settings: dict[str, Any]) -> Solver:
    """What to do instead."""
    radius = settings["radius"] / records.half_range
    if method == "Screened":
        return Screened(FrankWolfe(radius=radius), method="gradient", share=settings["share"])
    if method == "NoisyMinScreening":
        return NoisyMinScreening(radius=radius, n_steps=settings["n_noisy_min_steps"])
    return Pursuit()


def curator(solver: Solver, records: Drawn, settings: dict[str, Any], seed: Any, exact: str) -> Any:
    """The door: ``exact`` says what goes through without noise ("", a request, or "all")."""
    if exact == "all":
        return NoiselessCurator(records.public)
    budget = Budget(
        solver.schedule(records.public),
        epsilon=settings["epsilon"],
        delta=settings["delta"],
        neighbors="replace_one",
    )
    noisy = NoisyCurator(budget, records.public, KeyStream.from_seed(noise_seed(seed)))
    if not exact:
        return noisy
    kinds = {"select": Selection, "perturb": Perturbation}
    return replace(noisy, answers=Mixed(noisy.answers, kinds[exact]))


def half_private_trials(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """Experiments A and B: all schedules and calibrations."""
    return [
        {"set": task, "repetition": i, "schedule": schedule, "calibration": calibration}
        for task in settings["tasks"]
        for i in range(settings["repetitions"])
        for schedule in settings["schedules"]
        for calibration in settings["calibrations"]
    ]


def half_private_run(
    trial: dict[str, Any], settings: dict[str, Any], seed: Any, exact: str
) -> dict[str, Any]:
    """One fit of the paper's algorithm, part of its requests without noise."""
    records = drawn(trial["set"], trial["repetition"], settings)
    solver = rule(trial["schedule"], trial["calibration"], records, settings)
    door = curator(solver, records, settings, seed, exact)
    return records.kept(solver.solve(records.data, records.loss, door).weights)


def half_private_table(rows: list[dict[str, Any]], printed: dict[str, str]) -> str:
    """Kept parts by loss, schedule and calibration, beside what the paper says."""
    lines = [
        [
            task,
            written(schedule),
            IMPROVED if calibration == "sound" else calibration,
            mean_error(100 * column(mine, "true_kept"), 1),
            mean_error(100 * column(mine, "false_kept"), 1),
            printed[schedule],
        ]
        for (task, schedule, calibration), mine in grouped(
            sorted(rows, key=lambda row: row["set"]), "set", "schedule", "calibration"
        ).items()
    ]
    header = ["loss", "screening", "calibration", "true non-zeros kept, %", "true zeros kept, %"]
    return markdown([*header, "the paper says"], lines)


def written(schedule: str) -> str:
    """As in the paper."""
    names = {"every 1": "every iteration", "end": "after the last one"}
    return names.get(schedule, f"{schedule}th iteration")


def named(schedule: str, calibration: str) -> str:
    """Schedule and noise, or the improved variant."""
    return f"{written(schedule)}, {IMPROVED if calibration == 'sound' else calibration}"


def half_private_picture(
    rows: list[dict[str, Any]], settings: dict[str, Any], folder: Any, name: str
) -> None:
    """Bars by schedule and calibration."""
    tasks = list(dict.fromkeys(row["set"] for row in rows))
    figure, grid = axes(len(tasks), width=4.6, height=3.8)
    for ax, task in zip(grid.flat, tasks, strict=True):
        mine = [row for row in rows if row["set"] == task]
        groups = {
            named(schedule, calibration): (found, calibration)
            for (schedule, calibration), found in grouped(mine, "schedule", "calibration").items()
        }
        bars(ax, groups)
        for schedule, percents in settings["published"]["kept"].items():
            cross(ax, list(groups).index(named(schedule, "published")), *percents)
        ax.set_title(f"{task} regression", fontsize=9)
    legend(figure, KINDS)
    save(figure, folder, name)


def bars(ax: Any, groups: dict[str, tuple[list[dict[str, Any]], str]]) -> None:
    """Two bars per group: true non-zeros above, true zeros below."""
    for place, (rows, kind) in enumerate(groups.values()):
        for offset, value, hatch in ((-0.19, "true_kept", ""), (0.19, "false_kept", "////")):
            percent = 100 * column(rows, value)
            ax.barh(
                place + offset,
                percent.mean(),
                0.36,
                xerr=standard_error(percent),
                color=COLORS[kind] if not hatch else "white",
                edgecolor=COLORS[kind],
                hatch=hatch,
                error_kw={"capsize": 2, "elinewidth": 1},
            )
    ax.set_yticks(range(len(groups)), labels=list(groups), fontsize=8)
    ax.invert_yaxis()
    ax.set_xlim(0, 104)
    ax.set_xlabel("weights that are not zero, %")
    ax.grid(visible=False, axis="y")


def cross(ax: Any, place: int, true_kept: float, false_kept: float) -> None:
    """What the paper says, on the bars of a group."""
    for offset, percent in ((-0.19, true_kept), (0.19, false_kept)):
        ax.plot(
            percent,
            place + offset,
            "X",
            color="black",
            markeredgecolor="white",
            markersize=7,
            zorder=5,
            clip_on=False,
        )


def legend(figure: Any, kinds: dict[str, str]) -> None:
    """What the bars, their colors and the crosses are."""
    handles: list[Any] = [
        *(Patch(facecolor=COLORS[kind], label=label) for kind, label in kinds.items()),
        Patch(facecolor="#555555", edgecolor="#555555", label="of the true non-zeros"),
        Patch(facecolor="white", edgecolor="#555555", hatch="////", label="of the true zeros"),
        Line2D(
            [], [], marker="X", color="black", ls="", markeredgecolor="white", label="in the paper"
        ),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=8)

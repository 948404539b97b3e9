"""Figure 1 of Khanna et al. on private screening rules."""

from typing import Any

from sparsedp_experiments.framework.figure import axes, save
from sparsedp_experiments.framework.table import column, grouped, markdown, mean_error
from sparsedp_experiments.screening import fits

TITLE = "Figure 1: what private screening keeps, by schedule, linear and logistic"
COLUMNS = fits.COLUMNS
INSTEAD = ("Screened", "NoisyMinScreening", "Pursuit")
NOTE = """Percent of the true non-zero and of the true zero weights that are not zero in the end,
mean and standard error over draws of the set. The paper shows bars without numbers and says:
private screening does not tell true zeros from true non-zeros under any schedule, and when it is
done often hardly a weight is left. It also says that without noise, screening in every iteration,
{true} percent of the true non-zeros stay and {false} percent of the zeros: crosses. *Printed rule*
is that of the paper, *safe rule* the one that holds for radii other than one; with noise it also
starts without weights. *Proven* has the noise for what a record can really change. `Screened`,
`NoisyMinScreening` and `Pursuit` are proven at the same epsilon and delta; they may keep as many
features as are true, which is told to them.
"""


def trials(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """All methods on every draw."""
    found = []
    for task in settings["tasks"]:
        for repetition in range(settings["repetitions"]):
            common = {"set": task, "repetition": repetition}
            found += [
                {**common, "method": schedule, "calibration": calibration}
                for schedule in settings["schedules"]
                for calibration in settings["calibrations"]
            ]
            found += [{**common, "method": method, "calibration": "sound"} for method in INSTEAD]
            found += [
                {**common, "method": f"{name} rule, no noise", "calibration": "none"}
                for name in ("printed", "safe")
            ]
    return found


def run(trial: dict[str, Any], settings: dict[str, Any], data: Any, seed: Any) -> dict[str, Any]:
    """One fit."""
    records = fits.drawn(trial["set"], trial["repetition"], settings)
    method, exact = trial["method"], ""
    if trial["calibration"] == "none":
        which = "published" if method.startswith("printed") else "sound"
        solver, exact = fits.rule("every 1", which, records, settings), "all"
    elif method in INSTEAD:
        solver = fits.other(method, records, settings)
    else:
        solver = fits.rule(method, trial["calibration"], records, settings)
    door = fits.curator(solver, records, settings, seed, exact)
    return records.kept(solver.solve(records.data, records.loss, door).weights)


def labeled(method: str, calibration: str) -> str:
    """Name of a pair of bars."""
    if method in INSTEAD or calibration == "none":
        return method
    return fits.named(method, calibration)


def summarize(rows: list[dict[str, Any]], settings: dict[str, Any]) -> str:
    """A table."""
    printed = settings["published"]
    lines = [
        [
            task,
            labeled(method, calibration),
            mean_error(100 * column(mine, "true_kept"), 1),
            mean_error(100 * column(mine, "false_kept"), 1),
            mean_error(column(mine, "n_nonzero"), 1),
        ]
        for (task, method, calibration), mine in grouped(
            sorted(rows, key=lambda row: row["set"]), "set", "method", "calibration"
        ).items()
    ]
    header = ["loss", "screening", "true non-zeros kept, %", "true zeros kept, %", "non-zeros"]
    note = NOTE.format(true=printed["no_noise_true"], false=printed["no_noise_false"])
    return note + "\n" + markdown(header, lines)


def draw(rows: list[dict[str, Any]], settings: dict[str, Any], folder: Any) -> None:
    """A panel per loss."""
    tasks = list(dict.fromkeys(row["set"] for row in rows))
    figure, grid = axes(len(tasks), width=4.8, height=5.4)
    for ax, task in zip(grid.flat, tasks, strict=True):
        groups = {}
        mine = [row for row in rows if row["set"] == task]
        for (method, calibration), found in grouped(mine, "method", "calibration").items():
            kind = "reference" if calibration == "none" else calibration
            kind = "pursuit" if method in INSTEAD else kind
            groups[labeled(method, calibration)] = (found, kind)
        fits.bars(ax, groups)
        place = list(groups).index("printed rule, no noise")
        printed = settings["published"]
        fits.cross(ax, place, printed["no_noise_true"], printed["no_noise_false"])
        ax.set_title(f"{task} regression", fontsize=9)
    kinds = {**fits.KINDS, "reference": "no noise", "pursuit": "other methods"}
    fits.legend(figure, kinds)
    save(figure, folder, "figure1")

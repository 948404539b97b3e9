"""``sparsedp demo --papers``: the synthetic set of the papers, and a method of theirs."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    import numpy as np

    from sparsedp import SparseLogisticRegression
    from sparsedp.data.synthetic import SyntheticData

N_TRAIN, N_TEST, N_FEATURES, N_NONZERO = 8_000, 2_000, 100, 15
EPSILON, DELTA = 1.0, 1e-4


def show_papers(output: Path, seed: int | None) -> None:
    """Fit the Sparsifier of Khanna et al. (2024), with our accounting, to their synthetic set."""
    from sparsedp.cli.show import echo_verdict
    from sparsedp.data.synthetic import wang_zhang
    from sparsedp.release import PublishedModel, write_report

    made = wang_zhang(N_TRAIN + N_TEST, N_FEATURES, seed=seed or 0)
    click.echo(
        f"Synthetic data of Khanna et al. (2024): {N_TRAIN} records to fit, {N_TEST} to test, "
        f"{N_FEATURES} features,\nof which 8 decide the label. Keeping {N_NONZERO} features at "
        f"epsilon = {EPSILON:g}, delta = {DELTA:g} ...\n"
    )
    private, exact = _fitted(made, EPSILON, seed), _fitted(made, float("inf"), seed)
    model = PublishedModel.from_estimator(private, target_name="label")
    _echo_features(made.weights, private.coef_[0], exact.coef_[0])
    accuracy = _accuracy(made, private, exact)
    click.echo("Accuracy on the test records (they are synthetic, so it may be shown):")
    for name, value in accuracy.items():
        click.echo(f"  {name:14}{value:.3f}  {'#' * round(40 * value)}")
    click.echo(
        "  The model without noise comes from the same solver. It need not be better: noise evens\n"
        "  out the weights, which the L1 ball alone makes steeper than the true ones.\n"
    )
    echo_verdict(model.verdict())
    model.save(output)
    evaluation = {
        "data": f"{N_TEST} synthetic test records",
        "metrics": {"accuracy": accuracy},
    }
    report = write_report(model, output / "report.html", evaluation)
    click.echo(f"\nThe model is in {output / 'model.json'}\nOpen the report: {report.absolute()}")


def _fitted(made: "SyntheticData", epsilon: float, seed: int | None) -> "SparseLogisticRegression":
    """The solver of Khanna et al. (2024), on the records to fit."""
    from sparsedp import SparseLogisticRegression
    from sparsedp.solvers import FrankWolfe, Sparsifier

    return SparseLogisticRegression(
        epsilon=epsilon,
        delta=DELTA,
        bounds=made.bounds,
        n_nonzero=N_NONZERO,
        solver=Sparsifier(FrankWolfe(radius=10.0, n_steps=1000)),
        classes=(0, 1),
        random_state=seed,
    ).fit(made.X[:N_TRAIN], made.y[:N_TRAIN])


def _echo_features(true: "np.ndarray", found: "np.ndarray", exact: "np.ndarray") -> None:
    """Weights that are there or were found, largest first, and how many of them are right."""
    import numpy as np

    from sparsedp.cli.show import table_lines

    rows = [["feature", "true weight", "private", "without noise", ""]]
    shown = np.flatnonzero((true != 0) | (found != 0))
    for j in sorted(shown, key=lambda j: (-abs(true[j]), -abs(found[j]))):
        word = "found" if true[j] and found[j] else "missed" if true[j] else "false"
        cells = [f"{value:.3g}" if value else "." for value in (true[j], found[j], exact[j])]
        rows.append([f"x{j}", *cells, word])
    for line in table_lines(rows):
        click.echo(line)
    n_found = int(np.sum((true != 0) & (found != 0)))
    click.echo(
        f"  {n_found} of 8 true features found, {8 - n_found} missed, "
        f"{np.count_nonzero(found) - n_found} false (asked for {N_NONZERO}).\n"
    )


def _accuracy(
    made: "SyntheticData", private: "SparseLogisticRegression", exact: "SparseLogisticRegression"
) -> dict[str, float]:
    """On the test records, beside that of always saying the class that is more frequent."""
    X, y = made.X[N_TRAIN:], made.y[N_TRAIN:]
    return {
        "model": float(private.score(X, y)),
        "without noise": float(exact.score(X, y)),
        "null": float(max(y.mean(), 1 - y.mean())),
    }

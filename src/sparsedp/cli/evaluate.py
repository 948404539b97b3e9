"""``sparsedp evaluate``: scores of a model on labeled records."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sparsedp.cli.options import (
    anywhere,
    existing,
    json_option,
    limit_option,
    neighbors_option,
    source,
    table_options,
)

if TYPE_CHECKING:
    import numpy as np

    from sparsedp.data.files.location import Location
    from sparsedp.privacy import Neighbors
    from sparsedp.release import PublishedModel
    from sparsedp.release.columns import TableLike

NOTE = (
    "computed exactly on these records: the scores themselves are NOT private; publish them only "
    "if the records may be published, or are no one's"
)


@click.command("evaluate")
@click.argument("model", type=existing)
@click.argument("data", type=source)
@click.option("--target", metavar="COLUMN", help="The column with the truth.")
@click.option("--epsilon", type=float, help="What private scores may cost, all together.")
@click.option("--ledger", type=anywhere, help="The budget of these records, which is charged.")
@neighbors_option()
@click.option("--exact-not-private", "exact", is_flag=True, help="Exact scores, for your own eyes.")
@table_options()
@limit_option()
@json_option()
def command(
    model: Path,
    data: "Location",
    target: str | None,
    epsilon: float | None,
    ledger: Path | None,
    neighbors: "Neighbors",
    exact: bool,
    file_format: str | None,
    delimiter: str | None,
    encoding: str,
    sheet: str | None,
    as_json: bool,
) -> None:
    """Score MODEL on the labeled records in DATA.

    Compares with the null model, which knows only how often each class occurs in DATA, or the mean
    of its target. Scores are private (--epsilon), or exact and not private (--exact-not-private).
    """
    from sparsedp.cli.declared.records import records_to_score
    from sparsedp.cli.declared.source import Source
    from sparsedp.cli.private_scores import (
        LoadedModel,
        check_asked,
        echo_scores,
        opened,
        private_scores,
    )
    from sparsedp.cli.show import echo_json, echo_wrapped, table_lines
    from sparsedp.release import PublishedModel

    check_asked(epsilon, ledger, exact)
    published = PublishedModel.load(model)
    records = Source(data, file_format, delimiter, encoding, sheet)
    X, y, names = records_to_score(records, published, target, private=not exact)
    if epsilon is not None:
        loaded, budget = LoadedModel(published, names), opened(ledger)
        how = {"epsilon": epsilon, "neighbors": neighbors, "ledger": budget}
        found = private_scores(loaded, X, y, **how)
        if as_json:
            echo_json({"data": data.name, **found.to_dict()})
        else:
            echo_scores(found, data.name)
        return
    metrics = scores(published, X, y, names)
    if as_json:
        echo_json({"data": data.name, "n_records": len(y), "metrics": metrics, "note": NOTE})
        return
    rows = [["", "model", "null"]]
    rows += [[name, f"{row['model']:.4f}", f"{row['null']:.4f}"] for name, row in metrics.items()]
    click.echo(f"{data.name}, {len(y)} records")
    for line in table_lines(rows):
        click.echo(line)
    echo_wrapped(f"These numbers are {NOTE}.")


def scores(
    model: "PublishedModel", X: "TableLike", y: "np.ndarray", names: Sequence[str] | None
) -> dict[str, dict[str, float]]:
    """Scores of a model and of the null model; exact, so not private."""
    import numpy as np

    from sparsedp.data.gate import encode_labels, target_numbers

    if len(y) == 0:
        raise ValueError("there are no records to score")
    if model.classes is None:
        limits = model.target["lower"], model.target["upper"]
        truth = target_numbers(y, limits, model.invalid)
        errors, spread = truth - model.predict(X, names), truth - truth.mean()
        found = {
            "mean absolute error": {
                "model": float(np.abs(errors).mean()),
                "null": float(np.abs(spread).mean()),
            }
        }
        if spread.any():  # otherwise there is nothing to explain
            found["R2"] = {"model": float(1 - errors @ errors / (spread @ spread)), "null": 0.0}
        return found
    truth = encode_labels(y, model.classes, model.invalid).astype(int)
    probabilities = model.predict_proba(X, names)
    n_classes = len(model.classes)
    share = np.bincount(truth, minlength=n_classes) / len(truth)
    present = share[share > 0]
    told = probabilities[np.arange(len(truth)), truth]
    found = {
        "accuracy": {
            "model": float(np.mean(probabilities.argmax(axis=1) == truth)),
            "null": float(share.max()),
        },
        "log loss": {
            "model": float(-np.log(np.maximum(told, np.finfo(float).tiny)).mean()),
            "null": float(-(present * np.log(present)).sum()),
        },
    }
    if len(present) == n_classes:  # otherwise some class has no curve
        margins = model.decision_function(X, names)
        columns = (
            [(margins, truth == 1)]
            if margins.ndim == 1
            else [(probabilities[:, code], truth == code) for code in range(n_classes)]
        )
        areas = [_area(score, label) for score, label in columns]
        found["AUC"] = {"model": float(np.mean(areas)), "null": 0.5}
    return found


def _area(score: "np.ndarray", label: "np.ndarray") -> float:
    """Area under the curve: how often a record of the class is ranked above one that is not."""
    from scipy.stats import rankdata

    n_in, n_out = label.sum(), (~label).sum()
    return (rankdata(score)[label].sum() - n_in * (n_in + 1) / 2) / (n_in * n_out)

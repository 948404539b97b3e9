"""``sparsedp predict``: apply a model file to records."""

import csv
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sparsedp.cli.options import anywhere, existing, limit_option, source, table_options

if TYPE_CHECKING:
    from sparsedp.cli.declared.source import Source
    from sparsedp.data.files.location import Location
    from sparsedp.release.model import PublishedModel


@click.command("predict")
@click.argument("model", type=existing)
@click.argument("data", type=source)
@table_options()
@limit_option()
@click.option("-o", "--output", type=anywhere, help="CSV file; by default standard output.")
def command(
    model: Path,
    data: "Location",
    file_format: str | None,
    delimiter: str | None,
    encoding: str,
    sheet: str | None,
    output: Path | None,
) -> None:
    """Predict the records in DATA by MODEL (a folder or a model.json).

    Prints CSV: the prediction and, for classes, the probability of each. Columns are found by
    name; only those that the model uses are needed.
    """
    from sparsedp.cli.declared.source import Source
    from sparsedp.release.feature import label_text
    from sparsedp.release.model import PublishedModel

    published = PublishedModel.load(model)
    header = ["prediction"]
    if published.classes is not None:
        header += [f"probability of {label_text(label)}" for label in published.classes]
    records = Source(data, file_format, delimiter, encoding, sheet)
    rows = [header, *_rows(published, records)]  # all of them before anything is written
    if output is None:
        csv.writer(sys.stdout, lineterminator="\n").writerows(rows)
        return
    with output.open("w", encoding="utf-8", newline="") as handle:
        csv.writer(handle, lineterminator="\n").writerows(rows)
    click.echo(f"Wrote {output}")


def _rows(model: "PublishedModel", records: "Source") -> Iterator[list[str]]:
    """Predictions, block by block."""
    from sparsedp.cli.declared.records import blocks_for_model
    from sparsedp.release.feature import label_text

    for X, names in blocks_for_model(records, model):
        columns = [model.predict(X, names).tolist()]
        if model.classes is not None:
            columns += model.predict_proba(X, names).T.tolist()
        for row in zip(*columns, strict=True):
            yield [label_text(row[0]), *map(repr, row[1:])]

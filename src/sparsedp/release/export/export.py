"""Write a published model for another engine."""

from collections.abc import Sequence

from sparsedp import __version__
from sparsedp.privacy.verdict import Verdict
from sparsedp.release.export import javascript, pmml, python, sklearn, sql
from sparsedp.release.export.program import program_of
from sparsedp.release.model import PublishedModel

FORMS = ("python", "js", "sql", "sklearn", "pmml", "card")


def export(
    model: PublishedModel,
    to: str,
    *,
    dialect: str = "postgresql",
    table: str = "records",
    keep: Sequence[str] = (),
    verdict: Verdict | None = None,
) -> str:
    """A model as text that another engine runs.

    Parameters
    ----------
    model : PublishedModel
    to : {"python", "js", "sql", "sklearn", "pmml", "card"}
        A Python module or a JavaScript module with a function ``predict``, a query, a Python module
        whose function ``build`` makes a pipeline of scikit-learn, PMML, or a model card.
    dialect : {"postgresql", "sqlite", "duckdb", "bigquery"}
        Of SQL.
    table : str
        That the query reads.
    keep : sequence of str
        Columns that the query shows beside the predictions.
    verdict : Verdict, optional
        For the card: what ``verify`` found about the file; by default the record is counted anew.

    Returns
    -------
    str

    Privacy
    -------
    A function of the published model. Predictions for other records reveal nothing more about the
    records of the fit.
    """
    if to not in FORMS:
        raise ValueError(f"models are exported to {', '.join(FORMS)}, not to {to!r:.40}")
    if to == "card":
        from sparsedp.release.export import card  # it loads the templates of the report

        return card.write(model, verdict)
    if to == "sklearn":
        return sklearn.write(model, _title(model))
    if to == "pmml":
        return pmml.write(model, _title(model))
    program, title = program_of(model), _title(model)
    if to == "python":
        return python.write(program, title)
    if to == "js":
        return javascript.write(program, title)
    if dialect not in sql.DIALECTS:
        raise ValueError(f"dialects are {', '.join(sql.DIALECTS)}, not {dialect!r:.40}")
    return sql.write(program, title, dialect=dialect, table=table, keep=keep)


def _title(model: PublishedModel) -> list[str]:
    """Comments that hold no text of the model's: it may come from strangers."""
    verdict = model.verdict()
    return [
        f"Written by sparsedp {__version__} from the model {model.fingerprint()}.",
        f"Counted anew: epsilon = {verdict.epsilon:.4g} at delta = {model.privacy['delta']:g}.",
        "Predictions are functions of the published model: they cost no privacy.",
    ]


def export_bytes(model: PublishedModel) -> bytes:
    """A model as an ONNX file, which takes the package onnx to write."""
    try:
        from sparsedp.release.export import onnx
    except ModuleNotFoundError:
        raise ValueError(
            "an ONNX file takes the package onnx: pip install 'sparsedp[onnx]'"
        ) from None
    return onnx.write(program_of(model), _title(model))

"""No message, warning or log quotes a cell, a label or the number of records."""

import logging
import traceback
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from sparsedp import Bounds, RecordBlocks, SparseLinearRegression, SparseLogisticRegression
from sparsedp.data import read_table

N = 557
TEXT = "secret-diagnosis-7731"
MARKS = (TEXT, "7731.5", str(N), str(N - 1))
SECRETS = (TEXT, 7731.5, [TEXT], TEXT.encode(), {"a": 7731.5}, None, np.nan, 7731.5j)


def model(kind, invalid):
    settings = {"epsilon": 1.0, "delta": 1e-6, "bounds": Bounds(0, 1), "invalid": invalid}
    if kind == "numbers":
        return SparseLinearRegression(target_bounds=(0, 1), **settings)
    classes = {"declared": (0, 1), "text": ("a", "b"), "from data": None}[kind]
    return SparseLogisticRegression(classes=classes, **settings)


def tables(cell):
    """Kinds of input with a secret in it, and malformed ones; builders, for some cannot be made."""
    rows = [[0.5, 0.25, 1.0] for _ in range(N)]
    secret = [*rows[:-1], [0.5, cell, 1.0]]
    columns = {name: [row[j] for row in secret] for j, name in enumerate("abc")}
    yield lambda: secret
    yield lambda: tuple(map(tuple, secret))
    yield lambda: np.array(secret, dtype=object)
    yield lambda: np.array(secret)
    yield lambda: pd.DataFrame(columns)
    yield lambda: pl.DataFrame(columns, strict=False)
    yield lambda: pa.table(columns)
    yield lambda: sparse.csr_array(np.array(secret, dtype=np.float64))
    yield lambda: [*rows[:-1], cell]
    yield lambda: [*rows[:-1], [0.5, cell]]


def labels(cell):
    clean = [0, 1] * (N // 2) + [0]
    yield lambda: [*clean[:-1], cell]
    yield lambda: np.array([*clean[:-1], cell], dtype=object)
    yield lambda: pd.Series([*clean[:-1], cell])
    yield lambda: clean[:-1]
    yield lambda: np.array(clean)[:, None] * np.ones((1, 2))


def said(call, caplog):
    """Everything that a call says when it fails, and on the way: chained exceptions too."""
    texts = []
    with warnings.catch_warnings(record=True) as caught, caplog.at_level(logging.DEBUG):
        warnings.simplefilter("always")
        try:
            call()
        except Exception as error:
            texts += traceback.format_exception_only(error)
            chain = error
            while chain := (chain.__cause__ or chain.__context__):
                texts += traceback.format_exception_only(chain)
    return "\n".join([*texts, *(str(warning.message) for warning in caught), caplog.text])


def assert_silent(text):
    for mark in MARKS:
        assert mark not in text, text


@pytest.mark.parametrize("invalid", ["raise", "replace"])
@pytest.mark.parametrize("kind", ["declared", "numbers", "from data"])
def test_fit_and_predict_quote_nothing(kind, invalid, caplog, monkeypatch):
    """Review finding: scikit-learn's validation quoted the first cell that is no number."""
    monkeypatch.setattr("sparsedp.fit.fit.charge", lambda *_: pytest.fail("charged"))
    stop = RuntimeError("enough")
    for module in ("classifier", "regressor"):
        monkeypatch.setattr(f"sparsedp.estimators.{module}.scored_fit", lambda *_: raised(stop))
    good, y = np.full((N, 3), 0.5), np.resize([0, 1], N)
    refused = 0
    for cell in SECRETS:
        attempts = [(build, lambda: y) for build in tables(cell)]
        attempts += [(lambda: good, build) for build in labels(cell)]
        for build_X, build_y in attempts:
            try:
                X, target = build_X(), build_y()
            except Exception:
                continue  # cannot be made
            text = said(lambda X=X, target=target: model(kind, invalid).fit(X, target), caplog)
            assert_silent(text)
            refused += "enough" not in text
    assert refused >= (10 if invalid == "raise" else 3)


def raised(error):
    raise error


def test_predict_and_score_quote_nothing(caplog):
    fitted = model("declared", "raise").set_params(solver="frank_wolfe", epsilon=float("inf"))
    y = np.resize([0, 1], N)
    fitted.fit(np.full((N, 3), 0.5), y)
    for cell in SECRETS:
        for build in tables(cell):
            try:
                X = build()
            except Exception:
                continue
            for call in (fitted.predict, lambda X: fitted.score(X, y), fitted.predict_proba):
                assert_silent(said(lambda X=X, call=call: call(X), caplog))


@pytest.mark.parametrize("kind", ["csv", "parquet", "libsvm"])
def test_files_quote_nothing(kind, tmp_path, caplog):
    path = tmp_path / f"t.{kind}"
    secret = MARKS[0]
    frame = pd.DataFrame({"a": ["1.0", secret], "b": [1.0, 7731.5], "y": [secret, "b"]})
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "parquet":
        frame.to_parquet(path)
    else:
        path.write_text(f"1 1:1\n{secret} 1:7731.5 2:{secret}\n")
    for invalid in ("raise", "replace"):
        for options in ({}, {"categories": {"a": ["x", "y"]}}, {"drop": ["a"]}):
            more = {"n_features": 2} if kind == "libsvm" else {"target": "y", **options}

            def fit(more=more, invalid=invalid):
                table = read_table(path, invalid=invalid, **more)
                model("text", "raise").fit(table.X, table.y)

            text = said(fit, caplog)
            assert text.strip()
            assert_silent(text.replace(str(path), ""))


def test_blocks_quote_nothing(tmp_path, caplog):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": [1.0, 2.0], "y": ["a", MARKS[0]]}).to_parquet(path)
    records = RecordBlocks.from_parquet(path, target="y")
    text = said(lambda: model("text", "raise").fit(records), caplog)
    assert "declared classes" in text
    assert_silent(text)


@pytest.mark.parametrize(
    ("X", "column"),
    [
        (pd.DataFrame({"age": [1.0, None], "size": [1.0, 2.0]}), "'age'"),
        (pl.DataFrame({"age": [1.0, 2.0], "size": [1.0, None]}), "'size'"),
        (pa.table({"age": [1, None], "size": [1.0, 2.0]}), "'age'"),
        (np.array([[0.0, np.nan], [0.0, 1.0]]), "column 1"),
        ([[0.0, None], [0.0, 1.0]], "column 1"),
        (sparse.csr_array([[0.0, 0, np.inf], [0.0, 1, 0]]), "column 2"),
        (sparse.csc_array([[0.0, 0, np.nan], [0.0, 1, 0]]), "column 2"),
    ],
    ids=["pandas", "polars", "arrow", "array", "list", "csr", "csc"],
)
def test_a_missing_value_names_its_column_and_what_to_declare(X, column):
    """Review finding: the message recommended an imputer fitted to the records."""
    with pytest.raises(ValueError) as caught:
        model("declared", "raise").fit(X, [0, 1])
    text = str(caught.value)
    assert column in text
    assert 'invalid="replace"' in text
    assert "HistGradientBoosting" not in text


def test_what_a_fit_replaced_is_replaced_at_prediction():
    """Review finding: models fitted with "replace" refused the same records at prediction."""
    rows = [[0.0, None], [1.0, "x"], [np.inf, 0.5], [0.25, 0.75]] * 30
    for given in (rows, pd.DataFrame(rows, columns=["a", "b"])):
        fitted = model("declared", "replace").set_params(epsilon=float("inf"), shapes="linear")
        fitted.fit(given, [0, 1, 1, "?"] * 30)
        plain = np.array([[0.0, 0.5], [1.0, 0.5], [1.0, 0.5], [0.25, 0.75]] * 30)
        expected = plain @ fitted.coef_[0] + fitted.intercept_
        np.testing.assert_allclose(fitted.decision_function(given), expected)
        assert fitted.score(given, [0, 1, 1, "?"] * 30) == fitted.score(given, [0, 1, 1, 0] * 30)
    linear = model("numbers", "replace").set_params(epsilon=float("inf"))
    linear.fit(rows, [0.0, 1.0, None, "x"] * 30)
    repaired = linear.score(rows, [0, 1, 0.5, 0.5] * 30)
    assert linear.score(rows, [0.0, 1.0, None, "x"] * 30) == repaired


def test_labels_taken_from_the_data_are_never_private():
    """Review finding: one label more changes the shape of the model, and it was called private."""
    X, y = np.full((40, 2), 0.5), np.resize(["a", "b"], 40)
    record = model("from data", "raise").fit(X, y).privacy_
    assert record.target["classes_from_data"] is True
    assert not record.private
    assert model("text", "raise").fit(X, y).privacy_.private


def test_no_records_are_refused_or_fitted_like_any_others():
    empty, y = np.zeros((0, 3)), np.zeros(0)
    with pytest.raises(ValueError, match="no records"):
        model("declared", "raise").fit(empty, y)
    assert model("declared", "replace").fit(empty, y).coef_.shape == (1, 3)

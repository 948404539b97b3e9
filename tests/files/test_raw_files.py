"""Raw tables: every format gives the same cells, names come without records, bombs are refused."""

import codecs
import datetime
import gzip
import io
import json
import pickle
import sqlite3
import sys
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from sparsedp.data.files.limits import Limits
from sparsedp.data.files.location import Location
from sparsedp.data.files.open_raw import open_raw
from sparsedp.data.files.raw_columns import RawColumns, joined

COLUMNS = {
    "name": ["Ana", "Zoë", None, "Ana"],
    "age": [52, None, 7, 2**60],
    "rate": [0.5, -1.25, None, 1e300],
    "smoker": [True, False, None, True],
    "since": [datetime.date(2020, 2, 29), None, datetime.date(1999, 1, 1), datetime.date.max],
}
ROWS = list(zip(*COLUMNS.values(), strict=True))


def as_text(cell: object) -> str:
    return "" if cell is None else str(cell)


def write_csv(path: Path) -> None:
    lines = [",".join(COLUMNS), *(",".join(map(as_text, row)) for row in ROWS)]
    path.write_text("\n".join(lines))


def write_jsonl(path: Path) -> None:
    records = [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]
    path.write_text("\n".join(json.dumps(record, default=str) for record in records))


def write_excel(path: Path) -> None:
    book = openpyxl.Workbook()
    for row in [list(COLUMNS), *map(list, ROWS)]:
        book.active.append(row)
    book.save(path)


def write_sqlite(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute(f"CREATE TABLE people ({', '.join(COLUMNS)})")
    rows = [[str(c) if isinstance(c, datetime.date) else c for c in row] for row in ROWS]
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", rows)
    connection.commit()
    connection.close()


def arrow_stream(path: Path) -> None:
    table = pa.table(COLUMNS)
    with pa.ipc.new_stream(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=3)


WRITERS = {
    "t.csv": write_csv,
    "t.jsonl": write_jsonl,
    "t.xlsx": write_excel,
    "t.db": write_sqlite,
    "t.parquet": lambda path: pq.write_table(pa.table(COLUMNS), path, row_group_size=3),
    "t.feather": lambda path: pa.feather.write_feather(pa.table(COLUMNS), path),
    "t.arrow": arrow_stream,
}


def source_of(path: Path) -> str:
    return f"sqlite:///{path}?query=SELECT * FROM people" if path.suffix == ".db" else str(path)


def cells(column: object) -> list[object]:
    found = column.to_pylist() if isinstance(column, pa.ChunkedArray) else list(column)
    # What a format has no type for it writes in another way.
    return [as_text(cell).removesuffix(" 00:00:00") for cell in found]


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("rows", [1, 3, 100])
def test_every_format_gives_the_same_cells(name, rows, tmp_path):
    WRITERS[name](tmp_path / name)
    wanted = list(COLUMNS) if name == "t.jsonl" else None
    table = open_raw(source_of(tmp_path / name), None, wanted, rows)
    assert table.names == tuple(COLUMNS)
    blocks = list(table.blocks())
    assert max(block.n_rows for block in blocks) <= rows
    for column, expected in COLUMNS.items():
        found = [cell for block in blocks for cell in cells(block[column])]
        whole = {"1", "True"} if name == "t.db" else {"True"}
        for cell, value in zip(found, map(as_text, expected), strict=True):
            same = {value} | (whole if value == "True" else set())
            same |= {"0"} if value == "False" and name == "t.db" else set()
            if name == "t.xlsx" and value == str(2**60):
                same.add(str(float(2**60)))
            assert cell in same
    together = table.of(["rate", "name"]).read()
    assert together.names == ("rate", "name")
    assert together.shape == (4, 2)
    assert cells(together["name"]) == ["Ana", "Zoë", "", "Ana"]
    assert "Ana" not in repr(together)
    with pytest.raises(ValueError, match=r"no column 'nope'\. The columns are 'name', 'age'"):
        table.of(["nope"])


@pytest.mark.parametrize("name", ["t.csv", "t.xlsx", "t.parquet", "t.feather"])
def test_standard_input(name, tmp_path, monkeypatch):
    WRITERS[name](tmp_path / name)
    stream = io.TextIOWrapper(io.BytesIO((tmp_path / name).read_bytes()))
    monkeypatch.setattr(sys, "stdin", stream)
    formats = {"t.csv": None, "t.xlsx": "excel", "t.parquet": "parquet", "t.feather": "arrow"}
    table = open_raw("-", formats[name])
    assert cells(table.read()["name"]) == ["Ana", "Zoë", "", "Ana"]
    assert cells(table.read()["name"]) == ["Ana", "Zoë", "", "Ana"]  # it is kept
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n" + b"1,2\n" * 99)))
    with Limits(bytes=99).applied(), pytest.raises(ValueError, match="standard input gives more"):
        open_raw("-")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_dialects(delimiter, ending, mark, tmp_path):
    lines = [["größe", f"a{delimiter}b", "note"], ["1", "x", 'say "hi"'], ["2", "", "two\nlines"]]
    quoted = ['"' + cell.replace('"', '""') + '"' for line in lines for cell in line]
    text = ending.join(delimiter.join(quoted[k : k + 3]) for k in (0, 3, 6)) + ending
    (tmp_path / "t.csv").write_bytes(mark + text.encode())
    table = open_raw(tmp_path / "t.csv").read()
    assert table.names == ("größe", f"a{delimiter}b", "note")
    assert list(table["note"]) == ['say "hi"', "two\nlines"]
    assert list(table["größe"]) == ["1", "2"]


def test_encodings_are_declared(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("prénom;é\nJosé €;ü\n".encode("cp1252"))
    with pytest.raises(ValueError, match=r"line 1: not UTF-8 text.*--encoding latin-1") as caught:
        open_raw(path)
    assert caught.value.__context__ is None or "Jos" not in str(caught.value.__context__)
    assert list(open_raw(path, encoding="cp1252").read()["prénom"]) == ["José €"]
    assert list(open_raw(path, encoding="latin-1").read()["é"]) == ["ü"]


def test_decomposed_names_and_nameless_columns(tmp_path):
    (tmp_path / "t.csv").write_text("pre\u0301nom;b;\nx;1;\ny;2;ignored\n")
    table = open_raw(tmp_path / "t.csv")
    assert table.names == ("prénom", "b")
    assert list(table.read()["b"]) == ["1", "2"]


HEADERS = {
    "t.csv": b"a,b\n1,2\n" + b"\xff" * 10_000,
    "t.csv.gz": gzip.compress(b"a,b\n1,2\n" + b"\xff" * 10_000),
}


@pytest.mark.parametrize("name", HEADERS)
def test_names_need_no_record(name, tmp_path):
    (tmp_path / name).write_bytes(HEADERS[name])
    table = open_raw(tmp_path / name)
    assert table.names == ("a", "b")
    with pytest.raises(ValueError, match=r"line 3: not UTF-8"):
        table.read()


def test_a_json_line_is_a_record_by_itself(tmp_path):
    lines = [
        '{"a": 1, "b": "x"}',
        '{"b": null, "extra": {"deep": [1, 2]}}',
        '{"a": {"b": 1}, "b": [1]}',
        '{"a": ' + "9" * 5000 + ', "b": NaN}',
        "",
    ]
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    table = open_raw(tmp_path / "t.jsonl", columns=["a", "b"]).read()
    assert list(table["a"]) == [1, None, (), float("inf")]
    assert table["b"][:3] == ["x", None, ()]
    with pytest.raises(ValueError, match="have no header"):
        open_raw(tmp_path / "t.jsonl")


SECRET = "MARK-4711"
BAD = {
    "deep.jsonl": ("[" * 100_000 + SECRET, "line 1: is not a JSON object"),
    "twice.jsonl": (f'{{"a": 1, "a": "{SECRET}"}}', "every name stands once"),
    "list.jsonl": (f'["{SECRET}"]', "is not a JSON object"),
    "text.jsonl": (f'{{"a": {SECRET}}}', "is not a JSON object"),
    "long.jsonl": (f'{{"a": "{SECRET}' + "x" * (5 << 20) + '"}', "longer than any record"),
    "t.feather": (SECRET * 100, "cannot be read as an Arrow file"),
    "t.xlsx": (SECRET * 100, "damaged or cut off"),
    "t.parquet": (SECRET * 100, "cannot be read as a Parquet file"),
    "t.json": ("[]", "one object per line"),
    "t.xls": ("", r"save it as \.xlsx"),
    "t.db": ("", "sqlite:///FILE"),
    "t.dat": ("a,b\n1,2\n", "unknown format"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_read_gets_a_sentence_that_quotes_nothing(name, tmp_path):
    content, message = BAD[name]
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=message) as caught:
        open_raw(tmp_path / name, columns=["a"]).read()
    assert SECRET not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_bombs(tmp_path):
    """Small files that claim gigabytes are refused before these are unpacked."""
    n = 40_000_000
    batch = pa.record_batch({"a": pa.array(np.zeros(n))})
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(str(tmp_path / "b.arrow"), batch.schema, options=options) as writer:
        for _ in range(2):
            writer.write_batch(batch)
    assert (tmp_path / "b.arrow").stat().st_size < 2**20
    with pytest.raises(ValueError, match="unpacks to more"):
        next(open_raw(tmp_path / "b.arrow").blocks())
    write_excel(tmp_path / "t.xlsx")
    with (
        zipfile.ZipFile(tmp_path / "t.xlsx") as whole,
        zipfile.ZipFile(tmp_path / "b.xlsx", "w", zipfile.ZIP_DEFLATED) as bomb,
    ):
        for entry in whole.infolist():
            content = whole.read(entry)
            if entry.filename.endswith("sheet1.xml"):
                content += b" " * (80 << 20)
            bomb.writestr(entry.filename, content)
    assert (tmp_path / "b.xlsx").stat().st_size < 2**20
    with pytest.raises(ValueError, match="unpacks to more"):
        open_raw(tmp_path / "b.xlsx")


def test_rows_that_a_sheet_only_claims(tmp_path):
    write_excel(tmp_path / "t.xlsx")
    with (
        zipfile.ZipFile(tmp_path / "t.xlsx") as whole,
        zipfile.ZipFile(tmp_path / "b.xlsx", "w") as bomb,
    ):
        for entry in whole.infolist():
            content = whole.read(entry)
            if entry.filename.endswith("sheet1.xml"):
                content = content.replace(b'<row r="5"', b'<row r="99999999999"')
            bomb.writestr(entry.filename, content)
    with Limits(bytes=10**6).applied(), pytest.raises(ValueError, match="unpacks to more"):
        open_raw(tmp_path / "b.xlsx").read()


def test_a_repeated_text_stays_one_text(tmp_path):
    """A dictionary of one long text and many references to it."""
    long, n = "x" * 10**5, 10_000
    column = pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int8()), [long])
    pq.write_table(pa.table({"a": column}), tmp_path / "t.parquet")
    pa.feather.write_feather(pa.table({"a": column}), tmp_path / "t.feather")
    for name in ("t.parquet", "t.feather"):
        found = open_raw(tmp_path / name, rows_per_block=10**6).read()["a"]
        assert found[0] == long
        assert len({id(cell) for cell in found}) <= 2  # one per page of the file


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM people",
        "SELECT * FROM people; DELETE FROM people",
        "ATTACH 'other.db' AS o",
        "SELECT load_extension('x')",
        "SELECT * FROM nobody",
        "SELECT nothing FROM people",
        "PRAGMA writable_schema=1",
    ],
)
def test_sqlite_reads_and_does_nothing_else(query, tmp_path):
    write_sqlite(tmp_path / "t.db")
    before = (tmp_path / "t.db").read_bytes()
    with pytest.raises(ValueError, match="SQLite cannot run the query"):
        open_raw(f"sqlite:///{tmp_path / 't.db'}?query={query}").read()
    assert (tmp_path / "t.db").read_bytes() == before


def test_sqlite_files_of_strangers(tmp_path):
    path = tmp_path / "t.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (a TEXT)")
    connection.execute("INSERT INTO t VALUES (CAST(x'ff4d41524b' AS TEXT)), ('fine')")
    connection.execute(
        "CREATE VIEW endless AS WITH RECURSIVE r(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM r) "
        "SELECT a FROM r"
    )
    connection.commit()
    connection.close()
    url = f"sqlite:///{path}?query="
    assert open_raw(url + "SELECT a FROM t -- why not").read()["a"][:] == [b"\xffMARK", "fine"]
    with Limits(bytes=10**5).applied(), pytest.raises(ValueError, match="unpacks to more"):
        open_raw(url + "SELECT a FROM endless").read()
    assert open_raw(url + "SELECT a FROM endless").names == ("a",)
    (tmp_path / "no.db").write_bytes(b"MARK" * 999)
    with pytest.raises(ValueError, match="damaged or no SQLite file"):
        open_raw(f"sqlite:///{tmp_path / 'no.db'}?query=SELECT * FROM t")
    with pytest.raises(FileNotFoundError):
        open_raw(f"sqlite:///{tmp_path / 'none.db'}?query=SELECT 1")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("postgresql://bob:hunter2@host/db", "needs a query"),
        ("mysql://bob:hunter2@host/db?query=SELECT 1", "mysql:// is no kind of source"),
        ("postgresql://bob:hunter2@host/db?query=", "needs a query"),
        ("sqlite://?query=SELECT 1", "needs the path of a file"),
        ("sqlite:///a.db?query=SELECT '%ff'", "percent sign in it is %25"),
        ("postgresql://bob:hunter2@localhost:1/db?query=SELECT 1", "no connection"),
        ("postgresql://bob:hunter2@[::bad/db?query=SELECT 1", "no connection"),
    ],
)
def test_urls_are_not_shown(url, message):
    with pytest.raises(ValueError, match=message) as caught:
        open_raw(url)
    text = str(caught.value)
    assert "hunter2" not in text
    assert "bob" not in text
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_location_says_neither_server_nor_query():
    place = Location.of("postgresql://bob:hunter2@server/db?sslmode=require&query=SELECT 'ill%25'")
    assert place.query == "SELECT 'ill%'"
    assert place.url == "postgresql://bob:hunter2@server/db?sslmode=require"
    for text in (repr(place), str(place), place.name, place.shown, f"{place}"):
        assert not any(word in text for word in ("bob", "hunter2", "server", "ill"))
    assert Location.of("sqlite:////data/people.db?query=SELECT 1").path == Path("/data/people.db")
    assert Location.of("folder/t.csv").name == "t.csv"


@pytest.mark.parametrize("cells", [["a", "", "é"] * 5, ["a\x1fb", "c"] * 7, [1, "x", None] * 5, []])
@pytest.mark.parametrize("rows", [1, 4, 100])
def test_packed_cells_are_the_same_cells(cells, rows):
    blocks = [cells[k : k + rows] for k in range(0, len(cells), rows)] or [[]]
    column = joined(["a"], [RawColumns.of_rows(["a"], [[c] for c in block]) for block in blocks])
    packed = column["a"]
    assert list(packed) == packed[:] == cells
    assert len(packed) == column.n_rows == len(cells)
    for start in range(len(cells)):
        assert packed[start] == cells[start]
        for stop in range(start, len(cells) + 1):
            assert packed[start:stop] == cells[start:stop]
    assert packed[::2] == cells[::2]
    assert "a" not in repr(packed).replace("Packed(cells private)", "")


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet"])
@pytest.mark.parametrize("rows", [1, 2, 3, 100])
def test_parts_are_the_same_records_and_can_be_read_again(name, rows, tmp_path):
    WRITERS[name](tmp_path / name)
    table = open_raw(tmp_path / name, None, list(COLUMNS), rows)
    parts = pickle.loads(pickle.dumps(table.parts()))
    assert len(parts) >= (2 if rows < 3 else 1)
    write_excel(tmp_path / "t.xlsx")
    for _ in range(2):
        for column in COLUMNS:
            found = [cell for part in parts for cell in cells(part.read()[column])]
            assert found == cells(table.read()[column])
    with pytest.raises(ValueError, match="only Parquet, CSV and JSON lines"):
        open_raw(tmp_path / "t.xlsx").parts()


def test_parts_of_text_end_with_their_records(tmp_path):
    text = 'a,b\r\n1,"two\nlines"\r\n\r\n2,"say ""x"""\r\n3,c'
    (tmp_path / "t.csv").write_bytes(codecs.BOM_UTF8 + text.encode())
    table = open_raw(tmp_path / "t.csv", rows_per_block=1)
    found = [cell for part in table.parts() for cell in part.read()["b"]]
    assert found == list(table.read()["b"]) == ["two\nlines", 'say "x"', "c"]
    (tmp_path / "u.csv").write_text("a,b\n1,2\n3\n")
    parts = open_raw(tmp_path / "u.csv", rows_per_block=1).parts()
    with pytest.raises(ValueError, match=r"u\.csv, line 3: 1 cells"):
        parts[1].read()
    (tmp_path / "u.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="shorter than it was"):
        parts[1].read()
    (tmp_path / "v.csv").write_text('a,b\n1,2\n3,"4\n')
    with pytest.raises(ValueError, match="a quote does not end"):
        open_raw(tmp_path / "v.csv").parts()
    (tmp_path / "w.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n"))
    with pytest.raises(ValueError, match="unpacked"):
        open_raw(tmp_path / "w.csv.gz").parts()


def test_files_of_a_folder_may_differ_in_a_type(tmp_path):
    """pandas writes whole numbers as floats in the one file where a cell is missing."""
    pq.write_table(pa.table({"a": [1, 2], "t": ["x", "y"]}), tmp_path / "1.parquet")
    texts = pa.array(["x", None], pa.large_string())
    pq.write_table(pa.table({"a": [1.0, None], "t": texts}), tmp_path / "2.parquet")
    found = open_raw(tmp_path).read()
    assert list(found["a"]) == [1, 2, 1.0, None]
    assert list(found["t"]) == ["x", "y", "x", None]


def test_styles_of_a_workbook_do_not_take_minutes(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["a", "b"])
    book.save(tmp_path / "plain.xlsx")
    path = tmp_path / "styles.xlsx"
    with (
        zipfile.ZipFile(tmp_path / "plain.xlsx") as plain,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bomb,
    ):
        for name in plain.namelist():
            content = plain.read(name)
            if name == "xl/styles.xml":
                content = content.replace(b"</cellXfs>", b"<xf/>" * 10**6 + b"</cellXfs>")
            bomb.writestr(name, content)
    with pytest.raises(ValueError, match="unpacks to more"):
        open_raw(path)

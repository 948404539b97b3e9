"""PostgreSQL tables by query, against a server that these tests start themselves."""

from decimal import Decimal

import pytest

from sparsedp.data.files.open_raw import open_raw
from tests.files.conftest import PASSWORD, USER


def execute(server: str, *statements: str) -> None:
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


PEOPLE = (
    "CREATE TABLE people (id uuid, age int, income numeric, born date, smoker bool, note text, "
    "tags int[])",
    "INSERT INTO people SELECT md5(k::text)::uuid, nullif(k % 90, 7), k / 8.0, "
    "date '1950-01-01' + k, k % 2 = 0, 'MARK ' || k, ARRAY[1, 2] FROM generate_series(1, 2500) k",
)


def test_postgresql(server):
    execute(server, *PEOPLE)
    table = open_raw(f"{server}&query=SELECT * FROM people ORDER BY income", rows_per_block=1000)
    assert table.names == ("id", "age", "income", "born", "smoker", "note", "tags")
    blocks = list(table.blocks())
    assert [block.n_rows for block in blocks] == [1000, 1000, 500]
    people = table.read()
    assert people["age"][:8] == [1, 2, 3, 4, 5, 6, None, 8]
    assert people["income"][2] == Decimal("0.375")
    assert people["born"][0].isoformat() == "1950-01-02"
    assert people["smoker"][:2] == [False, True]
    assert people["id"][0] == "c4ca4238-a0b9-2382-0dcc-509a6f75849b"
    assert people["tags"][0] == ()
    some = open_raw(f"{server}&query=SELECT note FROM people WHERE note LIKE '%25 1' -- who", None)
    assert some.read()["note"][:] == ["MARK 1"]
    assert open_raw(f"{server}&query=SELECT age FROM people WHERE false").read().n_rows == 0
    assert PASSWORD not in repr(table)


REFUSED = {
    "SELECT * FROM nobody": "there is no such table",
    "SELECT nothing FROM people": "there is no such column",
    "SELEC 1": "not one SELECT",
    "DELETE FROM people RETURNING 1": "not one SELECT",
    "SELECT 1; DROP TABLE people": "not one SELECT",
    "SELECT note::int FROM people": "SQLSTATE 22P02",
    "SELECT 1 / (age - age) FROM people": "SQLSTATE 22012",
    "SELECT date 'infinity' AS d FROM people": "no form in Python",
    "SELECT nextval('counter') FROM people": "would change the database",
}


@pytest.mark.parametrize("query", REFUSED)
def test_errors_quote_neither_cells_nor_credentials(server, query):
    """Words of a server quote the cell that could not be converted."""
    execute(server, "DROP TABLE IF EXISTS people", *PEOPLE, "CREATE SEQUENCE IF NOT EXISTS counter")
    with pytest.raises(ValueError, match=REFUSED[query]) as caught:
        open_raw(f"{server}&query={query}").read()
    for word in ("MARK", USER, PASSWORD, "people", "host"):
        assert word not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    execute(server, "SELECT 1 / count(*) FROM people")  # all are still there


def test_a_wrong_password_is_not_shown(server):
    with pytest.raises(ValueError, match="no connection to the PostgreSQL server") as caught:
        open_raw(server.replace(PASSWORD, "wrong-word") + "&query=SELECT 1")
    assert "wrong-word" not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None

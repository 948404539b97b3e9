"""Schema files: what they say, what is refused and where, and that strangers' files only raise."""

import copy
import datetime
import json

import pytest

from sparsedp import Schema
from tests.schema.tables import HOSPITAL


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[features.age]\nlowr = 3\nupper = 4", r"\[features.age\] does not know 'lowr'.*'lower'"),
        ("[featurs.age]\nupper = 4", "does not know 'featurs'.*did you mean 'features'"),
        ("[features.age]\nkind = 'catgory'", r"\[features.age\] kind .* did you mean 'category'"),
        ("[features.age]\nupper = 4", r"\[features.age\] needs lower and upper"),
        ("[features.'a b']\nupper = 'x'\nlower=0", r'\[features."a b"\] upper must be a number'),
        ("[features.age]\nkind = 'category'", r"\[features.age\] needs categories = ..."),
        ("[features.age]\ncategories = ['1', '01']", "reads like another"),
        ("[features.age]\ncategories = [1, '1.0']", "reads like another"),
        ("[features.age]\ncategories = ['a', ' a']", "reads like another"),
        ("[features.age]\ncategories = ['a', 'A']\nfold_case = true", "reads like another"),
        ("[features.age]\ncategories = ['a', '']", "an empty text is a missing cell"),
        ("[features.age]\ncategories = ['a']\nother = 'b'", "other must be true, one of"),
        ("[features.age]\ncategories = ['a']\nmissing = 1", "missing must be .indicator"),
        ("[features.age]\nlower = 1\nupper = 1", "lower must be below upper"),
        ("[features.age]\nlower = -2\nupper = 1\ntransform = 'log1p'", "needs lower above -1"),
        ("[features.age]\nbins = [2, 1]", "ascending"),
        ("[features.age]\nknots = [2]", "between 2 and"),
        ("[features.age]\nbins = [1]\nknots = [1, 2]", "one of transform, bins and knots"),
        ("[features.d]\nkind = 'date'", r"\[features.d\] needs lower and upper as dates"),
        ("[features.d]\nparts = ['hour']", "parts must list some of"),
        ("[features.d]\nparts = ['month']\nformat = '%Y.%m'", "must not look like a number"),
        ("[features.d]\nparts = ['month']\nformat = 'x%Q'", "as for strptime"),
        ("[features.d]\nlower = 2020-01-01\nupper = 2020-03-01\nparts = ['year']", "earlier year"),
        ("[features.n]\nwords = 0", "words must lie between 1 and"),
        ("[features.n]\nwords = true", "words must be a whole number"),
        ("[features.h]\nperiod = -1", "period must be a positive number"),
        ("[numbers]\nthousands = '.'\n[features.a]\nbins = [1]", "must differ"),
        ("[numbers]\ndecimal = ';'", r"\[numbers\] decimal must be"),
        ("[target]\ncolumn = 'a'\n[features.a]\nbins = [1]", "'a' is the target and"),
        ("[target]\nclasses = ['a', 'b']", r"\[target\] needs column = ..."),
        ("[target]\ncolumn = 'a'\nclasses = ['a']", "at least two labels"),
        ("[target]\ncolumn = 'a'\nlower = 1", r"\[target\] needs both lower and upper"),
        ("[target]\ncolumn = 'a'\nclasses = [0, 1]\nmax_count = 3", "takes one of classes"),
        ("unit = 'person'", "unit must be .row."),
        ("unit = 'row'\n[person]\ncolumn = 'p'", "either .row. or the person"),
        ("[features.a]\nbins = [1]\n[interactions]\npairs = [['a', 'b']]", "two declared features"),
        ("[features.a]\nbins = [1]\n[features.'a<1']\nbins = [1]\n", None),
        ("[features.a]\nbins = [1]\n[features.'a<1']\nlower = 0\nupper = 1", "be called 'a<1'"),
        ("a = " + "[" * 100_000, "nested too deeply"),
        ("[features.a", "the schema is not TOML"),
    ],
)  # fmt: skip
def test_errors_say_what_and_where(text, words):
    if words is None:
        Schema.from_toml(text)
        return
    with pytest.raises(ValueError, match=words):
        Schema.from_toml(text)


def test_files_and_objects(tmp_path):
    path = tmp_path / "patients.toml"
    path.write_text(HOSPITAL, encoding="utf-8")
    schema = Schema.from_toml(HOSPITAL)
    assert Schema.from_toml(path) == Schema.from_toml(str(path)) == schema
    assert Schema.from_toml(schema.to_toml()) == schema
    assert Schema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema
    path.write_text("[features.age]\nlowr = 3", encoding="utf-8")
    with pytest.raises(ValueError, match=r"patients.toml: .features.age. does not know"):
        Schema.from_toml(path)
    with pytest.raises(FileNotFoundError):
        Schema.from_toml("nowhere.toml")
    assert schema.person.column == "patient"
    assert schema.weight.column == "w"
    assert schema.drop == ("internal_id",)
    assert schema.features["admitted on"].lower == datetime.date(2000, 1, 1)


def test_a_bounds_file_is_a_schema():
    old = """
    [bounds]
    row_norm = 5
    upper = 1
    [target]
    column = "y"
    classes = ["no", "yes"]
    [features.a]
    lower = -1
    [features.b]
    lower = 0
    upper = 9
    binary = true
    [features.c]
    drop = true
    lower = 0
    """
    schema = Schema.from_toml(old)
    assert schema.feature_names == ("a", "b")
    assert schema.bounds.row_norm == 5.0
    assert schema.bounds.binary_features(2).tolist() == [False, True]
    assert schema.drop == ("c",)


HOSTILE = [None, True, 0, -1, 10**400, 1e308, "", "\x00", "%", [], [[]], [None], {}, {"a": 1}]
"""Values that no key takes, or not every key."""


def paths(content, at=()):
    if isinstance(content, dict):
        for key, value in content.items():
            yield (*at, key)
            yield from paths(value, (*at, key))
    elif isinstance(content, list):
        for i, value in enumerate(content):
            yield from paths(value, (*at, i))


def test_whatever_stands_in_a_strangers_file_it_is_read_or_refused_by_a_sentence():
    content = Schema.from_toml(HOSPITAL).to_dict()
    for path in list(paths(content)):
        for hostile in HOSTILE:
            changed = copy.deepcopy(content)
            inner = changed
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = copy.deepcopy(hostile)
            try:
                schema = Schema.from_dict(changed)
            except ValueError as error:
                said = str(error)
                assert len(said) < 400
            else:
                assert Schema.from_dict(schema.to_dict()) == schema


@pytest.mark.parametrize(
    "text",
    [
        ".".join(["a"] * 5000) + " = 1",  # 5,000 keys of up to 5,000 parts
        " . ".join(['"a"'] * 5000) + " = 1",
        "[" + ".".join(["'a'"] * 5000) + "]",
        "a = " + "9" * 5000,
        "a = " + "[" * 100_000,
    ],
)
def test_files_that_would_fill_the_memory_are_refused_in_a_sentence(text, tmp_path):
    path = tmp_path / "schema.toml"
    path.write_text(text)
    for source in (text, path):
        with pytest.raises(ValueError, match=r"not (a )?TOML") as caught:
            Schema.from_toml(source)
        assert len(str(caught.value)) < 300

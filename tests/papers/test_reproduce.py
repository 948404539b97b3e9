"""Every experiment runs end to end on small stand-in data, and the runner keeps its promises."""

import csv
import hashlib
import http.server
import subprocess
import sys
import threading
import tomllib
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from setuptools import find_packages

from sparsedp.cli import main
from sparsedp_experiments.framework import check, origin, registry, runner, store
from sparsedp_experiments.framework.data import Data, DataMissing
from sparsedp_experiments.framework.table import markdown, mean_error, wilson
from sparsedp_experiments.ight import choose

ROOT = Path(__file__).parents[2]
STAND_IN = """
import numpy as np
from scipy import sparse

def names():
    texts = ["imdb", "imdb_rating", "rcv1_vw"]
    return ["splice", "kddcup99_dos", "heart_hungarian", "heart_cleveland", *texts]

def load(name, split="train", **options):
    rng = np.random.default_rng([len(name), split == "test"])
    if name.startswith("heart"):
        if split == "test":
            raise ValueError("no test part")
        X = np.abs(rng.normal(size=(120, 13)))
        return X, (X[:, 0] + rng.normal(size=120) > 0.8).astype(int)
    n, d = (600, 30) if name == "kddcup99_dos" else (150, 60)
    if name == "kddcup99_dos" and split == "test":
        raise ValueError("no test part")
    X = rng.random((n, d)) * (rng.random((n, d)) < 0.4)
    score = X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=n)
    if name in ("imdb", "imdb_rating", "rcv1_vw"):
        X = sparse.csr_matrix(X / np.linalg.norm(X, axis=1)[:, None])
    if name == "kddcup99_dos":
        X = sparse.csr_matrix(X)
    if name == "imdb_rating":
        return X, np.clip(np.round(5 + 4 * score), 1, 10)
    return X, (score > 0).astype(int)
"""


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Data in the layout that --data takes: small, and made here."""
    path = tmp_path_factory.mktemp("data")
    (path / "load.py").write_text(STAND_IN)
    return path


def toy(tmp_path, text="seed = 1\n[trials]\nrepetitions = 3\n[settings]\nshift = 0.5\n"):
    """A paper with one experiment, in its own root."""
    paper = tmp_path / "root" / f"private-lasso-{tmp_path.name}"
    paper.mkdir(parents=True, exist_ok=True)
    script = paper / "toy.py"
    script.write_text(
        "from pathlib import Path\n"
        "import numpy as np\n"
        "TITLE = 'a toy'\n"
        "COLUMNS = ('value',)\n"
        "def trials(settings):\n"
        "    return [{'set': s, 'repetition': r, 'epsilon': 1.0} for s in ('splice', 'absent')\n"
        "            for r in range(settings['repetitions'])]\n"
        "def run(trial, settings, data, seed):\n"
        "    data.load(trial['set'])\n"
        "    with Path(__file__).with_name('ran').open('a') as file:\n"
        "        file.write('x')\n"
        "    return {'value': settings['shift'] + np.random.default_rng(seed).random()}\n"
        "def summarize(rows, settings):\n"
        "    return f'{len(rows)} rows'\n"
    )
    script.with_suffix(".toml").write_text(text)
    return registry.Experiment("private-lasso", "toy", script)


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_every_experiment_runs_end_to_end(paper, folder, tmp_path):
    # One output for a paper: experiments that show the rows of others find them there.
    run = runner.Run(output=tmp_path, data=Data(folder=folder), size="tiny")
    for experiment in registry.chosen((paper,)):
        path = runner.reproduce(experiment, run)
        summary = (path / "summary.md").read_text()
        assert "Left out" not in summary, experiment.key
        assert summary.count("|") > 10, experiment.key  # a table
        module = experiment.module()
        trials = module.trials(experiment.settings("tiny").merged)
        if trials:
            with (path / "trials.csv").open(newline="") as file:
                rows = list(csv.DictReader(file))
            assert len(rows) == len(trials), experiment.key
            assert {*trials[0], *module.COLUMNS, "seed", "seconds"} <= set(rows[0])
            assert len({row["seed"] for row in rows}) == len(rows), experiment.key
        if getattr(module, "draw", None):
            pictures = {p.stem for p in path.glob("*.png")}
            assert pictures, experiment.key
            assert pictures == {p.stem for p in path.glob("*.svg")}


def test_the_list_names_every_table_and_figure():
    listed = CliRunner().invoke(main, ["reproduce", "--list"])
    assert listed.exit_code == 0
    keys = [line.split()[0] for line in listed.output.splitlines()]
    figures = [f"private-lasso/figure{i}" for i in range(1, 6)]
    figures += ["ight/figure1", "screening/figure1", "screening/figure2"]
    figures += [f"pretraining/figure{i}" for i in range(4, 12)]
    tables = [f"private-lasso/table{i}" for i in (1, 2)]
    tables += ["ight/table2", "ight/table3", "pretraining/table1"]
    tables += ["screening/experiment-a", "screening/experiment-b"]
    assert {*figures, *tables} <= set(keys)


def test_a_stopped_run_goes_on_and_changed_settings_start_anew(folder, tmp_path):
    experiment = toy(tmp_path)
    run = runner.Run(output=tmp_path / "out", data=Data(folder=folder))
    path = runner.reproduce(experiment, run)
    first = (path / "trials.csv").read_text()
    assert "3 rows" in (path / "summary.md").read_text()
    assert "absent" in (path / "summary.md").read_text()  # said to be left out; the rest ran
    # Killed in the middle of the last row: only that trial is run again, to the same result.
    (path / "trials.csv").write_text(first[:-30])
    runner.reproduce(experiment, run)
    ran = experiment.path.with_name("ran")
    assert len(ran.read_text()) == 4
    values = [row["value"] for row in csv.DictReader((path / "trials.csv").open())]
    assert values == [row["value"] for row in csv.DictReader(first.splitlines())]
    # More repetitions: the old ones stay. Another shift: all of them anew, and none is lost.
    text = experiment.path.with_suffix(".toml").read_text()
    experiment.path.with_suffix(".toml").write_text(
        text.replace("repetitions = 3", "repetitions = 4")
    )
    runner.reproduce(experiment, run)
    assert len(ran.read_text()) == 5
    experiment.path.with_suffix(".toml").write_text(text.replace("shift = 0.5", "shift = 1.5"))
    runner.reproduce(experiment, run)
    assert len(ran.read_text()) == 8
    assert len((path / "trials.csv").read_text().splitlines()) == 1 + 4 + 3
    assert "3 rows" in (path / "summary.md").read_text()


def test_workers_give_the_same_rows_and_do_not_share_noise(folder, tmp_path):
    experiment = toy(tmp_path)
    values = {}
    for jobs in (1, 2):
        run = runner.Run(output=tmp_path / str(jobs), data=Data(folder=folder), jobs=jobs)
        path = runner.reproduce(experiment, run)
        values[jobs] = {row["value"] for row in csv.DictReader((path / "trials.csv").open())}
    assert values[1] == values[2]
    assert len(values[1]) == 3


def test_trials_of_another_version_of_the_library_are_told_apart(folder, tmp_path, monkeypatch):
    experiment = toy(tmp_path)
    run = runner.Run(output=tmp_path / "out", data=Data(folder=folder))
    path = runner.reproduce(experiment, run)
    assert "several versions" not in (path / "summary.md").read_text()
    rows = (path / "trials.csv").read_text().splitlines(keepends=True)
    assert all(row.rstrip().endswith(origin.code_version()) for row in rows[1:])
    (path / "trials.csv").write_text("".join(rows[:-1]))
    said = f"several versions of the library: 2 by {origin.code_version()}, 1 by v0123456789."
    monkeypatch.setattr(origin, "code_version", lambda: "v0123456789")
    runner.reproduce(experiment, run)
    assert said in (path / "summary.md").read_text()


def test_every_row_has_its_origin(folder, tmp_path):
    experiment = toy(tmp_path)
    run = runner.Run(output=tmp_path / "out", data=Data(folder=folder))
    path = runner.reproduce(experiment, run)
    known = origin.known(run.output)
    rows = list(csv.DictReader((path / "trials.csv").open()))
    assert {row["code"] for row in rows} == set(known) == {origin.code_version()}
    assert {row["settings"] for row in rows} == {experiment.settings().digest}
    assert known[origin.code_version()]["commit"] == origin.commit()


def test_stored_rows_are_run_again_and_compared_to_the_last_bit(folder, tmp_path):
    experiment = toy(tmp_path)
    run = runner.Run(output=tmp_path / "out", data=Data(folder=folder))
    path = runner.reproduce(experiment, run) / "trials.csv"
    rng = np.random.default_rng(0)
    found = check.check(experiment, run, 1.0, rng)
    assert (found.n_rows, found.n_again, found.different) == (3, 3, ())
    assert found.n_lacking == 3  # of the set that is not there
    assert found.codes == {origin.code_version()}
    assert check.check(experiment, run, 0.1, rng).n_again == 1
    # The last bit of one value: that row is named, with the column.
    rows = list(csv.DictReader(path.open()))
    value = float(rows[1]["value"])
    nearly = repr(float(np.nextafter(value, 2)))
    path.write_text(path.read_text().replace(rows[1]["value"], nearly))
    found = check.check(experiment, run, 1.0, rng)
    assert found.different == ("set=splice repetition=1 epsilon=1.0: value",)
    # Times may differ.
    path.write_text(path.read_text().replace(nearly, rows[1]["value"]))
    text = path.read_text()
    assert rows[0]["seconds"] in text
    path.write_text(text.replace(f",{rows[0]['seconds']},", ",99.0,"))
    assert check.check(experiment, run, 1.0, rng).different == ()
    # Rows of other settings are not taken for these.
    experiment.path.with_suffix(".toml").write_text(
        experiment.path.with_suffix(".toml").read_text().replace("shift = 0.5", "shift = 1.5")
    )
    with pytest.raises(ValueError, match="settings"):
        check.check(experiment, run, 1.0, rng)


def test_the_command_says_ok_only_for_results_of_the_same_code(folder, tmp_path, monkeypatch):
    arguments = ["reproduce", "pretraining/figure8", "--data", str(folder), "-o", str(tmp_path)]
    assert CliRunner().invoke(main, arguments).exit_code == 0
    again = CliRunner().invoke(main, [*arguments, "--check", "--share", "1"])
    assert again.exit_code == 0, again.output
    assert "ok" in again.output
    monkeypatch.setattr(origin, "code_version", lambda: "v0123456789")
    other = CliRunner().invoke(main, [*arguments, "--check", "--share", "1"])
    assert other.exit_code == 1
    assert "--other-code" in other.output
    told = CliRunner().invoke(main, [*arguments, "--check", "--share", "1", "--other-code"])
    assert told.exit_code == 0
    csv_path = tmp_path / "pretraining" / "figure8" / "trials.csv"
    lines = csv_path.read_text().splitlines()
    place = lines[0].split(",").index("intercept")
    cells = lines[1].split(",")
    cells[place] = repr(float(np.nextafter(float(cells[place]), 9)))
    csv_path.write_text("\n".join([lines[0], ",".join(cells), *lines[2:]]) + "\n")
    different = CliRunner().invoke(main, [*arguments, "--check", "--share", "1", "--other-code"])
    assert different.exit_code == 1
    assert "intercept" in different.output
    assert "differ" in different.output


def test_an_interrupt_leaves_the_finished_trials(folder, tmp_path, monkeypatch):
    experiment = toy(tmp_path)
    run = runner.Run(output=tmp_path / "out", data=Data(folder=folder))
    calls = []

    def interrupted(path, settings, trial, one=runner._one):
        calls.append(trial)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return one(path, settings, trial)

    monkeypatch.setattr(runner, "_one", interrupted)
    with pytest.raises(KeyboardInterrupt):
        runner.reproduce(experiment, run)
    rows = store.Store(run.folder(experiment) / "trials.csv", experiment.settings().digest).rows()
    assert [row["repetition"] for row in rows] == [0, 1]


def test_bad_names_get_a_sentence():
    bad = CliRunner().invoke(main, ["reproduce", "private-lasso/table9"])
    assert bad.exit_code == 2
    assert "--list" in bad.output


def test_the_experiments_are_part_of_the_wheel():
    # What `pip install` takes, by the rules of pyproject.toml: packages, and data files in them.
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    packages = find_packages(str(ROOT / rules["packages"]["find"]["where"][0]))
    taken = {
        path
        for pattern in rules["package-data"]["sparsedp_experiments"]
        for path in registry.ROOT.glob(pattern)
    }
    for experiment in registry.all_experiments():
        folder = experiment.path.parent
        assert f"{registry.PACKAGE}.{folder.name}" in packages
        assert experiment.path.with_suffix(".toml") in taken, experiment.key
    assert f"{registry.PACKAGE}.framework" in packages
    assert registry.ROOT / "framework" / "sources.toml" in taken


def test_experiments_are_listed_from_anywhere(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    listed = subprocess.run(
        [sys.executable, "-m", "sparsedp.cli", "reproduce", "--list"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "private-lasso/table1" in listed.stdout


@pytest.fixture
def server(tmp_path):
    """Files under an address on loopback, and the number of requests."""
    files = tmp_path / "served"
    files.mkdir()
    (files / "tiny.txt").write_text("+1 1:1 3:0.5\n-1 2:2\n")
    seen = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments, **settings):
            super().__init__(*arguments, directory=str(files), **settings)

        def log_message(self, format, *arguments):
            seen.append(self.path)

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as serving:
        thread = threading.Thread(target=serving.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{serving.server_port}/tiny.txt", files / "tiny.txt", seen
        serving.shutdown()


def source(tmp_path, address, checksum=None):
    path = tmp_path / "sources.toml"
    lines = ["[tiny]", 'format = "libsvm"', "n_features = 3", f'train = "{address}"']
    path.write_text("\n".join([*lines, *([f'train_sha256 = "{checksum}"'] if checksum else [])]))
    return path


def test_downloads_are_checked(server, tmp_path):
    pytest.importorskip("pooch")
    address, file, seen = server
    cache = tmp_path / "cache"
    right = hashlib.sha256(file.read_bytes()).hexdigest()
    X, y = Data(cache=cache, sources=source(tmp_path, address, right)).load("tiny")
    np.testing.assert_array_equal(X.toarray(), [[1, 0, 0.5], [0, 2, 0]])
    np.testing.assert_array_equal(y, [1, 0])
    Data(cache=cache, sources=source(tmp_path, address, right)).load("tiny")
    assert len(seen) == 1  # the second time from the cache
    # Without a published checksum the first download is trusted, and a change is noticed.
    other = tmp_path / "other"
    Data(cache=other, sources=source(tmp_path, address)).load("tiny")
    file.write_text("+1 1:7\n-1 2:2\n")
    for path in other.glob("tiny*"):
        path.unlink()
    with pytest.raises(DataMissing, match="hash"):
        Data(cache=other, sources=source(tmp_path, address)).load("tiny")
    with pytest.raises(DataMissing):
        Data(cache=other, sources=source(tmp_path, address)).load("unknown")
    with pytest.raises(DataMissing):
        Data(cache=other, sources=source(tmp_path, address + ".absent")).load("tiny")


def test_a_folder_may_hold_plain_files(server, tmp_path):
    address, file, seen = server
    data = Data(folder=file.parent, sources=source(tmp_path, address))
    assert data.load("tiny", "all")[0].shape == (2, 3)
    assert not data.has_test("tiny")
    assert not seen
    file.unlink()
    with pytest.raises(DataMissing, match=r"tiny\.txt"):
        Data(folder=file.parent, sources=source(tmp_path, address)).load("tiny")


def test_tables():
    assert markdown(["a", "b"], [[1, None]]) == "| a | b |\n| --- | --- |\n| 1 |  |\n"
    assert mean_error([1.0, 2.0], 1) == "1.5 ± 0.5"
    low, high = wilson(10, 10)
    assert 0.7 < low < 0.73
    assert high == pytest.approx(1.0)


def test_chosen_parameters_were_tried_and_lie_on_no_edge():
    """choices.csv has what was tried, the settings have the best of it (or within a percent)."""
    with choose.TABLE.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    tried: dict = {}
    for row in rows:
        which = tried.setdefault((row["experiment"], row["set"], row["method"]), {})
        which.setdefault(row["parameters"], []).append(np.log(float(row["error"])))
    for (experiment, name, method), scores in tried.items():
        settings = registry.chosen((f"ight/{experiment}",))[0].settings().merged
        chosen = settings["chosen"][name]
        on_text, on_panels = choose.OF_METHOD[method]
        names = on_panels if experiment == "figure1" else on_text
        key = " ".join(f"{n}={chosen[n]:g}" for n in names)
        least = min(np.mean(values) for values in scores.values())
        assert np.mean(scores[key]) <= least + 0.01, (experiment, name, method, key)
        for n in names:
            ladder = choose.LADDERS[n]
            assert ladder[0] < chosen[n] < ladder[-1] or (n, chosen[n]) == ("n_steps", 1), (name, n)

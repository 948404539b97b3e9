"""The folder of a fit: refused before the charge, whole at every moment, never lost."""

import json
import os
import resource
import shutil
import signal
import threading
import time
import tomllib
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

from sparsedp import Ledger
from sparsedp.cli import main
from sparsedp.cli.folder.keep import keep
from sparsedp.cli.folder.output import FILES, Output, model_size
from sparsedp.cli.folder.stopping import uninterrupted
from sparsedp.cli.folder.swap import put_in_place
from sparsedp.release import PublishedModel
from tests.faults.child import Child

BUDGET = ("--epsilon", "1", "--delta", "1e-6")


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A small table, and a ledger for three fits."""
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (200, 4))
    np.savez(tmp_path / "t.npz", X=X, y=(X[:, 0] > 0).astype(int))
    Ledger(3.0, 1e-4, tmp_path / "l")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def arguments(*more: object) -> list[str]:
    data = ("fit", "t.npz", "--bounds", "1", "--classes", "0,1", *BUDGET, "--ledger", "l")
    return [*data, "--n-nonzero", "2", *map(str, more)]


def run(*more: object, code: int = 0) -> click.testing.Result:
    result = CliRunner().invoke(main, arguments(*more))
    assert result.exit_code == code, result.output
    return result


def charges() -> int:
    return len(Ledger(path="l").history())


def names(path: str) -> list[str]:
    """What lies in a folder, but for the note that a ledger keeps beside it."""
    return sorted(entry.name for entry in Path(path).iterdir() if entry.name != "l.head")


@pytest.mark.parametrize("output", ["t.npz", "t.npz/m", "/dev/null/m", "/proc/nowhere/m", "full"])
@pytest.mark.parametrize("force", [(), ("--force",)])
def test_what_cannot_be_written_is_refused_before_the_charge(folder, output, force):
    Path("full").mkdir()
    Path("full/notes.txt").write_text("mine")
    result = run("-o", output, *force, code=2)
    assert result.stderr.count("\n") == 1
    assert charges() == 0
    assert Path("full/notes.txt").read_text() == "mine"
    assert names(".") == ["full", "l", "t.npz"]


def test_a_folder_of_somebody_else_is_refused_before_the_charge(folder):
    """Review finding: charged, then 'Permission denied'."""
    for path in (folder, *folder.parents):  # pytest keeps its folders to their owner
        if path.stat().st_uid == os.getuid() and path != Path("/tmp"):
            os.chmod(path, path.stat().st_mode | 0o055)
    Path("kept").mkdir()
    Path("kept/model.json").write_text("old")
    for name in (".out", ".err"):
        Path(name).touch()
        os.chmod(name, 0o666)
    Path("own").mkdir()
    os.chmod("own", 0o555)
    os.chmod("l", 0o666)

    def nobody() -> None:
        if os.getuid() == 0:
            os.setgid(65534)
            os.setuid(65534)

    for output in ("kept", "own/m"):
        ended = Child(arguments("-o", output, "--force"), folder, nobody).wait()
        assert ended.code == 2, ended
        assert ended.err.count("\n") == 1
        assert "nothing was charged" in ended.err
    assert charges() == 0
    assert Path("kept/model.json").read_text() == "old"


def test_a_full_disk_is_refused_before_the_charge(folder):
    """Review finding: a model.json of 0 bytes, after which a retry was refused."""

    def small() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    ended = Child(arguments("-o", "m"), folder, small).wait()
    assert ended.code == 2, ended
    assert "nothing was charged" in ended.err
    assert charges() == 0
    assert not Path("m").exists()
    assert not Path("m.unfinished").exists()
    run("-o", "m")
    assert charges() == 1


def test_a_fit_leaves_its_folder_alone(folder):
    run("-o", "m")
    assert names("m") == sorted(FILES)
    assert names(".") == ["l", "m", "t.npz"]
    before = PublishedModel.load("m")
    assert "already holds a model" in run("-o", "m", code=2).stderr
    run("-o", "m", "--force")
    assert names(".") == ["l", "m", "t.npz"]
    assert PublishedModel.load("m") != before
    Path("deep/er").mkdir(parents=True)
    Path("link").symlink_to("deep/er")
    run("-o", "link")
    assert Path("link").is_symlink()
    assert names("deep/er") == sorted(FILES)
    assert charges() == 3


def test_an_empty_model_file_is_no_model(folder):
    Path("m").mkdir()
    Path("m/model.json").touch()
    run("-o", "m")
    assert PublishedModel.load("m").n_features == 4


def test_the_folder_one_stands_in_is_not_replaced(folder, monkeypatch):
    Path("here").mkdir()
    monkeypatch.chdir("here")
    result = CliRunner().invoke(main, ["fit", "../t.npz", "--bounds", "1", *BUDGET, "-o", "."])
    assert result.exit_code == 2
    assert "name a folder inside" in result.stderr


def interrupted(folder: Path, output: str = "m", *more: str, force: bool = False) -> PublishedModel:
    """What a fit leaves that was killed as soon as its model was stored."""
    made = CliRunner().invoke(main, [*arguments("-o", "made", "--seed", "7", *more)])
    assert made.exit_code == 0
    model = PublishedModel.load("made")
    staged = Output(Path(output))
    staged.prepare("[fit]\n", model_size(None, 4, 2), ledger=folder / "l", force=force)
    keep(staged, model, None)
    staged.release()
    return model


def test_an_interrupted_fit_is_finished_at_no_charge(folder):
    model = interrupted(folder)
    assert not Path("m").exists()
    assert "paid for" in run("-o", "m", code=2).stderr
    assert charges() == 1
    shown = CliRunner().invoke(main, ["fit", "--resume", "-o", "m"])
    assert shown.exit_code == 0, shown.output
    assert "NOT PRIVATE" in shown.stdout  # it was seeded
    assert PublishedModel.load("m") == model
    assert Path("m/report.html").read_text() == Path("made/report.html").read_text()
    assert names("m") == sorted(FILES)
    assert names(".") == ["l", "m", "made", "t.npz"]
    assert charges() == 1
    again = CliRunner().invoke(main, ["fit", "--resume", "-o", "m", "--json"])
    assert json.loads(again.stdout)["folder"] == "m"
    nothing = CliRunner().invoke(main, ["fit", "--resume", "-o", "other"])
    assert nothing.exit_code == 2
    assert "no model is waiting" in nothing.stderr


@pytest.mark.parametrize("error", [MemoryError, ValueError, OSError])
def test_what_fails_after_the_charge_is_not_called_refused(folder, monkeypatch, error):
    """Exit code 2 means that nothing was charged, to people and to programs."""

    def fail(*_: object) -> None:
        raise error("4711")

    monkeypatch.setattr("sparsedp.fit.fit.private_solution", fail)
    failed = run("-o", "m", code=1)
    assert "The budget was charged and there is no model" in failed.stderr
    assert "4711" not in failed.stderr
    assert charges() == 1


@pytest.mark.parametrize("intervals", [(), ("--intervals",)])
def test_scores_and_intervals_of_an_interrupted_fit_are_not_lost(folder, intervals):
    model = interrupted(folder, "m", "--holdout", "0.3", *intervals)
    done = CliRunner().invoke(main, ["fit", "--resume", "-o", "m", "--json"])
    assert done.exit_code == 0, done.output
    shown = json.loads(done.stdout)
    assert ("intervals" in shown) == bool(intervals)
    again = PublishedModel.load("m")
    assert again == model
    assert again.scores.to_dict() == model.scores.to_dict() == shown["evaluation"]
    assert Path("m/report.html").read_text() == Path("made/report.html").read_text()
    assert "held out" in Path("m/report.html").read_text()
    ledger = Ledger(path="l")
    assert [charge.epsilon for charge in ledger.history()] == [1]
    assert not ledger.pending()


def test_resuming_replaces_only_what_the_fit_was_told_to(folder):
    interrupted(folder)
    Path("m").mkdir()
    Path("m/notes.txt").write_text("mine")
    refused = CliRunner().invoke(main, ["fit", "--resume", "-o", "m"])
    assert refused.exit_code == 1
    assert "other files" in refused.stderr
    assert "--resume" in refused.stderr
    Path("m/notes.txt").rename("m/model.json")
    assert CliRunner().invoke(main, ["fit", "--resume", "-o", "m"]).exit_code == 1
    assert Path("m/model.json").read_text() == "mine"
    done = CliRunner().invoke(main, ["fit", "--resume", "-o", "m", "--force"])
    assert done.exit_code == 0, done.output
    assert PublishedModel.load("m") == PublishedModel.load("made")


def test_a_copy_of_what_a_fit_left_is_not_removed(folder):
    interrupted(folder)
    shutil.copytree("m.unfinished", "copy.unfinished")  # another inode, as after a backup
    kept = Path("copy.unfinished/model/model.json")
    for arguments_ in (["fit", "--resume", "-o", "copy"], arguments("-o", "copy")):
        refused = CliRunner().invoke(main, arguments_)
        assert refused.exit_code == 2
        assert "put back" in refused.stderr
        assert PublishedModel.load(kept) == PublishedModel.load("made")
    assert charges() == 1


def test_resuming_leaves_a_running_fit_alone(folder):
    running = Output(Path("m"))
    running.prepare("[fit]\n", model_size(None, 4, 2), ledger=None, force=False)
    refused = CliRunner().invoke(main, ["fit", "--resume", "-o", "m"])
    assert refused.exit_code == 2
    assert Path("m.unfinished/model/reserve").exists()
    running.discard()


@pytest.mark.parametrize("note", [{}, {"ledger": 5, "force": "yes"}])
def test_a_strange_note_is_no_traceback(folder, note):
    interrupted(folder)
    path = Path("m.unfinished/note.json")
    path.write_text(json.dumps({"inode": json.loads(path.read_text())["inode"], **note}))
    done = CliRunner().invoke(main, ["fit", "--resume", "-o", "m"])
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("cut", ["before", "between", "after"])
def test_a_swap_without_exchange_is_completed(folder, cut):
    """Where the system has no exchange of two names: killed around each of the two renames."""
    Path("m").mkdir()
    Path("m/model.json").write_text("old")
    model = interrupted(folder, force=True)
    if cut != "before":
        Path("m").rename("m.unfinished/old")
    if cut == "after":
        Path("m.unfinished/model/report.html").write_text("whole")
        Path("m.unfinished/model").rename("m")
    done = CliRunner().invoke(main, ["fit", "--resume", "-o", "m"])
    assert done.exit_code == 0, done.output
    assert PublishedModel.load("m") == model
    assert not Path("m.unfinished").exists()


def test_two_names_are_exchanged(tmp_path):
    new, old, aside = (tmp_path / name for name in ("new", "old", "aside"))
    for path in (new, old):
        path.mkdir()
        (path / path.name).touch()
    put_in_place(new, old, aside)
    assert (old / "new").exists()
    assert (new / "old").exists() or (aside / "old").exists()


def test_a_running_fit_keeps_others_away(folder):
    staged = Output(Path("m"))
    staged.prepare("[fit]\n", 2**20, ledger=None, force=False)
    ended = Child(arguments("-o", "m"), folder).wait()
    assert ended.code == 2
    assert "another fit is writing" in ended.err
    staged.discard()
    # What a killed fit left without a model does not stand in the way.
    staged.prepare("[fit]\n", 2**20, ledger=None, force=False)
    staged.release()
    run("-o", "m")
    assert charges() == 1


@pytest.mark.parametrize("ledger", [True, False])
def test_a_model_is_not_lost_with_its_folder(folder, capsys, ledger):
    run("-o", "made")
    model = PublishedModel.load("made")
    staged = Output(Path("m"))
    staged.prepare("[fit]\n", 2**20, ledger=None, force=False)
    staged.discard()  # somebody cleans up while the fit runs
    with pytest.raises(click.ClickException) as raised:
        keep(staged, model, Ledger(path="l") if ledger else None)
    assert "not lost" in raised.value.message
    if ledger:
        (kept,) = Path(".").glob("l.*.json")
        assert str(kept) in raised.value.message
        assert PublishedModel.load(kept) == model
    else:
        assert json.loads(capsys.readouterr().out) == json.loads(model.to_json())


def test_ctrl_c_waits_for_what_must_be_whole():
    steps = []

    def interrupted_inside() -> None:
        with uninterrupted():
            steps.append("begun")
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
            steps.append("done")

    with pytest.raises(KeyboardInterrupt):
        interrupted_inside()
    assert steps == ["begun", "done"]

    def elsewhere() -> None:
        with uninterrupted():  # signals reach the main thread only
            steps.append("thread")

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert steps[-1] == "thread"


def test_run_toml_names_no_path(folder, tmp_path_factory):
    """Review finding: it held the absolute path of the data, in a folder meant for publishing."""
    fit = ["fit", str(folder / "t.npz"), "--bounds", "1", "--classes", "0,1", *BUDGET]
    assert CliRunner().invoke(main, [*fit, "--ledger", str(folder / "l")]).exit_code == 0
    for path in Path("model").iterdir():
        assert str(folder) not in path.read_text()
    run_toml = tomllib.loads(Path("model/run.toml").read_text())["fit"]
    assert (run_toml["data"], run_toml["ledger"]) == ("t.npz", "l")

    def again(*more: str) -> click.testing.Result:
        return CliRunner().invoke(main, ["fit", "--config", "model/run.toml", "-o", "m", *more])

    assert "DATA" in again().stderr
    assert "called 'l'" in again("t.npz").stderr
    assert charges() == 1
    assert again("t.npz", "--ledger", "l").exit_code == 0
    assert charges() == 2


def test_a_column_with_limits_can_be_dropped(folder):
    """Review finding: 'has limits for ...: no such feature'."""
    Path("t.csv").write_text("a,b,c,y\n1,0,x,0\n0,1,y,1\n1,1,x,1\n")
    tables = '[bounds]\nlower=0\nupper=1\n[features.a]\nupper=2\n[features.c]\ncategories=["x"]\n'
    Path("b.toml").write_text(tables)
    fit = ["fit", "t.csv", "--bounds", "b.toml", "--target", "y", "--classes", "0,1", *BUDGET]
    done = CliRunner().invoke(main, [*fit, "--drop", "a", "--drop", "c"])
    assert done.exit_code == 0, done.output
    assert PublishedModel.load("model").n_features == 1

"""Coins that persist: the same persons in every fit, a secret key, and a ledger for each side."""

import json
import os
import stat

import numpy as np
import pytest
from click.testing import CliRunner

from sparsedp import Ledger
from sparsedp.cli import main
from sparsedp.data.blocks.blocks import RecordBlocks
from sparsedp.evaluation import holdout as scoring
from sparsedp.fit.parts import Holdout
from sparsedp.fit.parts.key import CoinKey
from sparsedp.privacy.ledger import LedgerError
from sparsedp.privacy.ledger.sides import on_side, side_of
from sparsedp.release import PublishedModel
from sparsedp.release.approval.verify import verify
from sparsedp.solvers import Pursuit
from tests.evaluation.test_holdout import estimator, records

IDS = np.repeat(np.arange(200), 2)


@pytest.fixture
def key(tmp_path):
    return tmp_path / "holdout.key"


def ledgers(tmp_path):
    paths = (tmp_path / f"{name}.sqlite" for name in ("fit", "test"))
    return [Ledger(4.0, 1e-5, path=path, unit="person") for path in paths]


def fitted(holdout, ledger=None, groups=IDS, **how):
    X, y = records("binary", len(groups))
    return estimator("binary", holdout=holdout, ledger=ledger, **how).fit(X, y, groups=groups)


def test_the_key_is_secret_and_frozen_with_its_share(key):
    first = CoinKey.opened(key, 0.2)
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert len(first.secret) == 32
    assert first == CoinKey.opened(key, 0.2)
    assert first.secret != CoinKey.opened(key.with_name("other"), 0.2).secret
    shown = repr(first) + repr(Holdout(share=0.2, key=key)) + first.name
    assert first.secret.hex() not in shown
    with pytest.raises(ValueError, match=r"was made for holdout=0\.2"):
        CoinKey.opened(key, 0.3)
    os.chmod(key, 0o644)
    with pytest.raises(ValueError, match="others can read"):
        CoinKey.opened(key, 0.2)
    os.chmod(key, 0o600)
    key.write_text("{}")
    with pytest.raises(ValueError, match="not a key"):
        CoinKey.opened(key, 0.2)


def test_a_side_goes_by_the_id_alone(key):
    coins = CoinKey.opened(key, 0.3)
    ids = np.arange(20_000)
    held = coins.held(ids, "raise")
    # Standard error .0032: six of them are passed once in 10**9.
    assert abs(held.mean() - 0.3) < 0.02
    turned = np.random.default_rng(0).permutation(20_000)
    assert np.array_equal(coins.held(ids[turned], "raise"), held[turned])
    # What containers make of an id is still that id, and somebody else's id changes nothing.
    for same in ([str(n) for n in ids], ids.astype(float), [*ids[:-1].tolist(), "somebody"]):
        assert np.array_equal(coins.held(same, "raise")[:-1], held[:-1])
    assert not coins.held([None, "", "nan"], "replace").any()


def test_the_same_persons_are_held_out_of_every_fit(key, monkeypatch):
    honest = scoring.predicted

    def predicted(problem, solution):
        columns.append(np.sort(problem.data.columns([0])[:, 0]))
        return honest(problem, solution)

    columns = []
    monkeypatch.setattr(scoring, "predicted", predicted)
    for _ in range(2):
        fitted(Holdout(share=0.3, key=key))
    assert np.array_equal(columns[0], columns[1])
    fitted(Holdout(share=0.3, key=key.with_name("another")))
    fitted(0.3)
    assert not any(np.array_equal(columns[0], other) for other in columns[2:])


def test_each_side_has_its_ledger(key, tmp_path):
    fit, test = ledgers(tmp_path)
    holdout = Holdout(share=0.3, key=key, ledger=test)
    models = [fitted(holdout, fit) for _ in range(2)]
    assert fit.remaining().epsilon == test.remaining().epsilon == 0.0
    assert test.remaining().delta == 1e-5
    assert [charge.delta for charge in fit.history()] == [1e-6, 1e-6]
    assert not fit.pending()
    assert not test.pending()
    name = CoinKey.opened(key, 0.3).name
    assert {side_of(charge.what) for charge in fit.history()} == {("fit", name)}
    assert {side_of(charge.what) for charge in test.history()} == {("test", name)}
    record, scores = models[0].privacy_, models[0].evaluation_.privacy
    assert record.ledger is not None
    assert scores.ledger is not None
    assert (record.ledger["id"], scores.ledger["id"]) == (fit.terms["id"], test.terms["id"])
    assert record.private
    PublishedModel.from_estimator(models[0]).save(tmp_path / "m")
    text = (tmp_path / "m" / "model.json").read_text()
    assert json.loads(key.read_text())["secret"] not in text
    assert str(key) not in text
    assert verify(tmp_path / "m", fit).problems == ()


def test_a_ledger_of_a_side_pays_for_nothing_else(key, tmp_path):
    fit, test = ledgers(tmp_path)
    fitted(Holdout(share=0.3, key=key, ledger=test), fit)
    before = [ledger.history() for ledger in (fit, test)]
    another = key.with_name("another")
    for act in (
        lambda: fitted(None, fit),
        lambda: fitted(0.3, fit),
        lambda: fitted(Holdout(share=0.3, key=key), fit),
        lambda: fitted(Holdout(share=0.3, key=key, ledger=fit), test),
        lambda: fitted(Holdout(share=0.3, key=another, ledger=test), fit),
        lambda: test.charge(0.1, 0.0, unit="person"),
    ):
        with pytest.raises(LedgerError, match="one side of a holdout"):
            act()
    assert [ledger.history() for ledger in (fit, test)] == before
    plain = Ledger(4.0, 1e-5, unit="person")
    plain.charge(0.1, 0.0, unit="person")
    with pytest.raises(LedgerError, match="one side"):
        plain.charge(0.1, 0.0, unit="person", what=on_side("a model", "fit", "0" * 16))


def test_what_cannot_be_is_refused_before_the_charge(key, tmp_path):
    fit, test = ledgers(tmp_path)
    X, y = records("binary", 400)
    with pytest.raises(ValueError, match="by the ids of persons"):
        estimator("binary", holdout=Holdout(share=0.3, key=key, ledger=test), ledger=fit).fit(X, y)
    blocks = RecordBlocks.from_arrays(X, y, groups=IDS, rows_per_block=100)
    with pytest.raises(ValueError, match="records in memory"):
        estimator("binary", holdout=Holdout(share=0.3, key=key)).fit(blocks)
    with pytest.raises(ValueError, match="coins that persist"):
        Holdout(share=0.3, ledger=test)
    assert fit.history() == test.history() == []


def test_neither_side_pays_where_the_other_cannot(key, tmp_path):
    fit, test = ledgers(tmp_path)
    poor = Ledger(1.0, 1e-5, unit="person")
    everybody = Ledger(4.0, 1e-5, unit="person")
    everybody.charge(0.1, 0.0, unit="person")
    for one, other in (
        *((bad, test) for bad in (poor, everybody, Ledger(4.0, 1e-5))),
        *((fit, bad) for bad in (poor, everybody, Ledger(4.0, 1e-5))),
        (fit, fit),
        (fit, Ledger(path=fit.path)),
    ):
        with pytest.raises((LedgerError, ValueError)):
            fitted(Holdout(share=0.3, key=key, ledger=other), one)
    assert fit.history() == test.history() == poor.history() == []


def test_a_changed_share_is_another_key(key, tmp_path):
    fit, test = ledgers(tmp_path)
    fitted(Holdout(share=0.3, key=key, ledger=test), fit)
    key.write_text(key.read_text().replace("0.3", "0.4"))
    with pytest.raises(LedgerError, match="one side of a holdout"):
        fitted(Holdout(share=0.4, key=key, ledger=test), fit)


def command_line(tmp_path):
    """A fit that charges both sides, as words, but for the ledgers; and where it writes."""
    X, y = records("binary", 400)
    rows = [f"{i},{','.join(map(str, x))},{t}" for i, x, t in zip(IDS, X, y, strict=True)]
    data = tmp_path / "data.csv"
    data.write_text("\n".join(["id,a,b,c,d,y", *rows]))
    command = ["fit", str(data), "--schema=-1,1", "--target", "y", "--classes", "a,b"]
    command += ["--person", "id", "--epsilon", "2", "--delta", "1e-6", "--holdout", "0.3"]
    return command, tmp_path / "model"


def test_on_the_command_line(key, tmp_path):
    command, out = command_line(tmp_path)
    fit, test = ledgers(tmp_path)
    sides = ["--holdout-key", str(key), "--ledger", str(fit.path)]
    sides += ["--evaluation-ledger", str(test.path)]
    run = CliRunner().invoke(main, [*command, *sides, "-o", str(out)])
    assert run.exit_code == 0, run.output
    assert len(fit.history()) == len(test.history()) == 1
    published = "".join(path.read_text() for path in out.iterdir())
    assert key.name not in published
    assert json.loads(key.read_text())["secret"] not in published + run.output
    without = [*command[:-2], "--holdout-key", str(key), "-o", str(out), "--force"]
    bad = CliRunner().invoke(main, without)
    assert bad.exit_code == 2
    assert "need --holdout" in bad.output


def _stopped(self, *args):
    raise KeyboardInterrupt


@pytest.mark.parametrize("both", [False, True])
def test_a_fit_that_is_stopped_names_every_ledger_that_paid(key, tmp_path, monkeypatch, both):
    command, out = command_line(tmp_path)
    fit, test = ledgers(tmp_path)
    sides = ["--holdout-key", str(key), "--evaluation-ledger", str(test.path)]
    if both:
        sides += ["--ledger", str(fit.path)]
    monkeypatch.setattr(Pursuit, "solve", _stopped)
    run = CliRunner().invoke(main, [*command, *sides, "-o", str(out)])
    assert run.exit_code == 130, run.output
    assert "Nothing was charged" not in run.output
    assert "there is no model" in run.output
    assert str(test.path) in run.output
    assert (str(fit.path) in run.output) == both
    assert len(test.pending()) == 1
    assert len(fit.pending()) == int(both)

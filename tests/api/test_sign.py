"""Signatures: what they cover, and what is refused."""

import json
import os
import stat
from dataclasses import asdict, replace

import numpy as np
import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
)

from sparsedp import Bounds, Ledger, SparseLogisticRegression
from sparsedp.cli import main
from sparsedp.release import PublishedModel
from sparsedp.release.approval.sign import check_signature, make_key, sign, signature_path


def run(*arguments: object, code: int = 0, text: str | None = None) -> str:
    done = CliRunner().invoke(main, [str(a) for a in arguments], input=text)
    assert done.exit_code == code, done.output
    return done.output


@pytest.fixture
def folder(tmp_path):
    """A model that was charged to a ledger, and a key."""
    ledger = Ledger(epsilon=4, delta=1e-5, path=tmp_path / "ledger")
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (200, 3))
    estimator = SparseLogisticRegression(
        epsilon=1, delta=1e-6, bounds=Bounds(-1, 1), classes=(0, 1), ledger=ledger
    )
    estimator.fit(X, (X[:, 0] > 0).astype(int))
    PublishedModel.from_estimator(estimator).save(tmp_path / "model")
    make_key(tmp_path / "key")
    return tmp_path


def test_from_key_to_verification(folder):
    model, key = folder / "model", folder / "key"
    assert stat.S_IMODE(os.stat(key).st_mode) == 0o600
    assert "not signed" in run("verify", model, "--public-key", f"{key}.pub", code=1)
    run("sign", model, "--key", key, "--name", "Privacy Office", "--ledger", folder / "ledger")
    shown = run("verify", model, "--public-key", f"{key}.pub", "--ledger", folder / "ledger")
    assert "Signed by Privacy Office" in shown
    assert "was not asked" in run("verify", model)
    found = json.loads(run("verify", model, "--public-key", f"{key}.pub", "--json"))
    assert found["holds"]
    assert found["signature"]["ledger"]["line"] >= 1


@pytest.mark.parametrize("name", ["model", "signer", "signed_at", "public_key", "signature"])
def test_every_field_is_covered(folder, name):
    sign(folder / "model", folder / "key", signer="Office")
    path = signature_path(folder / "model")
    content = json.loads(path.read_text())
    other = "0" if content[name][0] != "0" else "1"
    path.write_text(json.dumps({**content, name: other + content[name][1:]}))
    assert check_signature(folder / "model")[1]


def test_the_ledger_that_the_signer_saw_is_covered(folder):
    ledger = Ledger(path=folder / "ledger")
    sign(folder / "model", folder / "key", signer="Office", ledger=ledger)
    path = signature_path(folder / "model")
    content = json.loads(path.read_text())
    content["ledger"]["line"] = 0
    path.write_text(json.dumps(content))
    assert "not of the key" in check_signature(folder / "model")[1][0]


def test_a_ledger_that_was_put_back_is_found(folder):
    old = (folder / "ledger").read_bytes()
    Ledger(path=folder / "ledger").charge(1.0, 1e-6, what="another fit")
    ledger = Ledger(path=folder / "ledger")
    sign(folder / "model", folder / "key", signer="Office", ledger=ledger)
    (folder / "ledger").write_bytes(old)
    (folder / "ledger.head").unlink()
    problems = check_signature(folder / "model", ledger=Ledger(path=folder / "ledger"))[1]
    assert "not the one that the signer saw" in problems[0]


def test_a_changed_model_and_another_key_are_found(folder):
    sign(folder / "model", folder / "key", signer="Office")
    other = make_key(folder / "other")
    assert "another key" in check_signature(folder / "model", other)[1][0]
    path = folder / "model" / "model.json"
    path.write_text(path.read_text() + " ")
    assert "another model file" in check_signature(folder / "model", folder / "key.pub")[1][0]
    run("verify", folder / "model", "--public-key", folder / "key.pub", code=1)


def test_a_file_that_claims_too_much_is_not_signed(folder):
    path = folder / "model" / "model.json"
    content = json.loads(path.read_text())
    content["privacy"]["epsilon"] = 0.1
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match="is not signed"):
        sign(folder / "model", folder / "key", signer="Office")
    assert not signature_path(path).exists()


def test_encrypted_keys_ask(folder):
    key = Ed25519PrivateKey.generate()
    how = BestAvailableEncryption(b"open sesame")
    (folder / "locked").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, how))
    name = ("--key", folder / "locked", "--name", "Office")
    run("sign", folder / "model", *name, text="open sesame\n")
    shown = run("sign", folder / "model", *name, text="wrong\n", code=2)
    assert "password is wrong" in shown


def test_a_key_with_a_password_needs_somebody(folder):
    key = Ed25519PrivateKey.generate()
    how = BestAvailableEncryption(b"open sesame")
    (folder / "locked").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, how))
    name = ("--key", folder / "locked", "--name", "Office")
    assert "sign in a terminal" in run("sign", folder / "model", *name, text="", code=2)


def test_no_key_lies_in_what_is_published(folder):
    inside = folder / "model" / "keys" / "key"
    name = ("--name", "Office")
    run("sign", folder / "model", "--new-key", inside, *name, code=2)
    assert not inside.exists()
    make_key(folder / "model" / "key")
    shown = run("sign", folder / "model", "--key", folder / "model" / "key", *name, code=2)
    assert "published with it" in shown
    run("sign", folder / "model", "--key", folder / "key", *name)


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"format": 1}', "x" * 99])
def test_files_of_strangers_raise_one_sentence(folder, text):
    signature_path(folder / "model").write_text(text)
    assert "signature" in run("verify", folder / "model", code=2)
    (folder / "bad").write_text(text)
    assert "PEM" in run("sign", folder / "model", "--key", folder / "bad", "--name", "A", code=2)


@pytest.mark.parametrize("signer", ["\x1b[2JOffice", "a\nb", "\u202eeciffO"])
def test_a_signer_cannot_steer_the_terminal_of_a_reader(folder, signer):
    # Signed by a key of the stranger's own, so that the signature itself is right.
    key = Ed25519PrivateKey.generate()
    made = replace(
        sign(folder / "model", folder / "key", signer="Office"),
        signer=signer,
        public_key=key.public_key().public_bytes_raw().hex(),
    )
    made = replace(made, signature=key.sign(made.message()).hex())
    assert made.holds
    signature_path(folder / "model").write_text(json.dumps({"format": 1, **asdict(made)}))
    assert signer not in run("verify", folder / "model", code=2)


def test_a_key_is_never_overwritten(folder):
    before = (folder / "key").read_bytes()
    run("sign", "--new-key", folder / "key", code=2)
    assert (folder / "key").read_bytes() == before
    (folder / "new.pub").write_text("of another key")
    run("sign", "--new-key", folder / "new", code=2)
    assert (folder / "new.pub").read_text() == "of another key"
    assert not (folder / "new").exists()
    run("sign", folder / "model", "--key", folder / "key", "--name", " ", code=2)

"""Signatures (Ed25519) that bind a model file, and the ledger it was charged to, to a person.

The hash inside a model file shows damage; a signature shows forgery. It stands beside the model
in ``model.json.signature`` and covers every byte of the model file, so also the record of what was
spent, who signed (as declared), when, and how far the ledger had come.
"""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from sparsedp.data.files.opened import parse_json, read_text
from sparsedp.privacy.ledger import Ledger, LedgerError, Receipt
from sparsedp.privacy.plain import Parsed
from sparsedp.release.approval.verify import verify
from sparsedp.release.model import FILE

SUFFIX = ".signature"
FORMAT = 1
DOMAIN = b"sparsedp model signature 1\n"
"""Before what is signed, so that no signature of something else is one of a model."""

LONGEST = 200


@dataclass(frozen=True, kw_only=True)
class Signature:
    """Who vouches for a model file.

    Parameters
    ----------
    model : str
        SHA-256 of the model file.
    signer : str
        As the signer says; what counts is the key.
    signed_at : str
        By the signer's clock.
    ledger : dict or None
        Identity, line and hash of the ledger's last line when it was signed.
    public_key : str
        In hexadecimal.
    signature : str
        In hexadecimal, over all of the above.
    """

    model: str
    signer: str
    signed_at: str
    ledger: Parsed | None
    public_key: str
    signature: str = ""

    def message(self) -> bytes:
        """What is signed."""
        content = {key: value for key, value in asdict(self).items() if key != "signature"}
        text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return DOMAIN + text.encode()

    @property
    def holds(self) -> bool:
        """Whether the key that is named has signed this."""
        try:
            key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(self.public_key))
            key.verify(bytes.fromhex(self.signature), self.message())
        except (InvalidSignature, ValueError):
            return False
        return True


def signature_path(model: str | Path) -> Path:
    """Where the signature of a model (a folder or a file) is."""
    path = Path(model)
    path = path / FILE if path.is_dir() else path
    return path.with_name(path.name + SUFFIX)


def make_key(path: str | Path) -> Path:
    """Write a new private key that only its owner can read, and its public part beside it.

    Returns
    -------
    Path
        Of the public key: ``path`` with ".pub".
    """
    path = Path(path)
    public = path.with_name(path.name + ".pub")
    if public.exists():
        raise ValueError(f"{public} is there already, of another key: choose another name")
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)  # never over another key
    with open(handle, "wb") as file:
        file.write(private)
    public.write_bytes(
        key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )
    return public


def sign(
    model: str | Path,
    key: str | Path,
    *,
    signer: str,
    ledger: Ledger | None = None,
    password: Callable[[], str] | None = None,
) -> Signature:
    """Sign a model file that keeps its word; the signature is written beside it.

    Parameters
    ----------
    model : str or Path
        A model.json, or the folder that holds it.
    key : str or Path
        An Ed25519 private key in PEM, as of `make_key` or ``openssl genpkey -algorithm ed25519``.
    signer : str
        Name or office.
    ledger : Ledger, optional
        That the fit was charged to: the model must be in it.
    password : callable, optional
        Asked if the key is encrypted.

    Raises
    ------
    ValueError
        If the file claims more than its releases prove, or its ledger does not know it.

    Notes
    -----
    *Privacy.* Only published files are read.
    """
    if not signer.strip() or len(signer) > LONGEST or not signer.isprintable():
        raise ValueError("a signature names its signer, in at most 200 printable characters")
    path = Path(model)
    path = path / FILE if path.is_dir() else path
    before = _hash(path)
    found = verify(path, ledger)
    if found.problems:
        raise ValueError(f"this model is not signed: {found.problems[0]}")
    if _hash(path) != before:
        raise ValueError("the model file was changed while it was checked: sign it again")
    private = _private_key(Path(key), password)
    receipt = None if ledger is None else ledger.verify().to_dict()
    unsigned = Signature(
        model=before,
        signer=signer.strip(),
        signed_at=datetime.now(UTC).isoformat(timespec="seconds"),
        ledger=receipt,
        public_key=private.public_key().public_bytes_raw().hex(),
    )
    content = {**asdict(unsigned), "signature": private.sign(unsigned.message()).hex()}
    signature_path(path).write_text(
        json.dumps({"format": FORMAT, **content}, indent=1, ensure_ascii=False) + "\n",
        encoding="utf-8",
    )
    return Signature(**content)


def read_signature(path: Path) -> Signature:
    """Read a signature file; what is none raises."""
    content = parse_json(read_text(path, "a signature"), str(path), "a signature")
    names = {"format", *Signature.__dataclass_fields__}
    if not isinstance(content, Mapping) or set(content) != names or content["format"] != FORMAT:
        raise ValueError(f"{path} is not a signature that sparsedp can read")
    fields = {key: value for key, value in content.items() if key != "format"}
    texts = [value for key, value in fields.items() if key != "ledger"]
    ledger = fields["ledger"]
    # What is shown to people must not steer their terminal.
    readable = (
        isinstance(text, str) and len(text) <= LONGEST and text.isprintable() for text in texts
    )
    if not all(readable) or not (ledger is None or isinstance(ledger, dict)):
        raise ValueError(f"{path} is not a signature that sparsedp can read")
    return Signature(**fields)


def check_signature(
    model: str | Path, public_key: str | Path | None = None, ledger: Ledger | None = None
) -> tuple[Signature | None, list[str]]:
    """Whether a model is signed, by this key.

    Parameters
    ----------
    model : str or Path
        A model.json, or the folder that holds it.
    public_key : str or Path, optional
        In PEM. Without it a signature is only shown to be of the key that it names.
    ledger : Ledger, optional
        Must still know the line that it had come to when the model was signed.

    Returns
    -------
    signature : Signature or None
        None if there is none.
    problems : list of str
    """
    path = Path(model)
    path = path / FILE if path.is_dir() else path
    where = signature_path(path)
    if not where.exists():
        return None, [] if public_key is None else ["The model is not signed."]
    signature, problems = read_signature(where), []
    if not signature.holds:
        problems.append("The signature is not of the key that it names.")
    if signature.model != _hash(path):
        problems.append("The signature is of another model file.")
    if public_key is not None and signature.public_key != _public_key(Path(public_key)):
        problems.append("The signature is of another key than the given one.")
    if ledger is not None and signature.ledger is not None:
        problems += _forgotten(signature.ledger, ledger)
    return signature, problems


def _forgotten(noted: Parsed, ledger: Ledger) -> list[str]:
    """Whether a ledger is one that the signer has seen, and not an older copy of it."""
    try:
        ledger.verify([Receipt(noted["id"], noted["line"], noted["head"])])
    except (LedgerError, KeyError, TypeError) as error:
        why = f" ({error})" if isinstance(error, LedgerError) else ""
        return [f"The ledger is not the one that the signer saw{why}."]
    return []


def _hash(path: Path) -> str:
    return hashlib.sha256(read_text(path, "a model file").encode()).hexdigest()


def _private_key(path: Path, password: Callable[[], str] | None) -> Ed25519PrivateKey:
    data = read_text(path, "a key").encode()
    secret = None
    if b"ENCRYPTED" in data:
        if password is None:
            raise ValueError(f"{path} is encrypted: a password is needed")
        secret = password().encode()
    try:
        key = load_pem_private_key(data, secret)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None  # what the library says may quote the key
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError(f"{path} is no Ed25519 private key in PEM, or the password is wrong")
    return key


def _public_key(path: Path) -> str:
    try:
        key = load_pem_public_key(read_text(path, "a key").encode())
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise ValueError(f"{path} is no Ed25519 public key in PEM")
    return key.public_bytes_raw().hex()

"""The LIBSVM (svmlight) text format: one record per line, ``label index:value index:value``."""

import re
from typing import IO

import numpy as np

from sparsedp.data.files.limits import limits
from sparsedp.data.gate import Invalid, cells
from sparsedp.data.storage import Array, IndexArray, Sparse, compressed

Parsed = tuple[Array, IndexArray, Array, IndexArray]
"""Labels, 1-based indices, values, and pairs per record."""

CHUNK_BYTES = 1 << 23  # text parsed at once, so that memory follows the result, not the file

# One record: a label, then index:value pairs. Possessive, so that bad input fails at once.
_NUMBER = rb"[-+]?+(?:(?:\d++\.?+\d*+|\.\d++)(?:[eE][-+]?+\d++)?+|(?i:nan|inf))"
_RECORD = rb"[ \t]*+(?:%b(?:[ \t]++\d{1,15}+:%b)*+)?+[ \t\r]*+" % (_NUMBER, _NUMBER)
_RECORDS = re.compile(rb"(?:%b\n)*+" % _RECORD)
_NOTE = re.compile(rb"#[^\n]*|[ \t]qid:\d+")


def parse_libsvm(
    handle: IO[bytes], where: str, n_features: int | None, invalid: Invalid = "raise"
) -> tuple[Sparse, Array]:
    """Read records from a binary stream, chunk by chunk; `where` is the file, for messages."""
    chunks: list[Parsed] = []
    width, line = n_features or 0, 1
    while lines := handle.readlines(CHUNK_BYTES):
        text = _NOTE.sub(b"", b"".join(lines).rstrip(b"\n") + b"\n")
        parsed = _parse(text)
        largest = 0 if parsed is None else int(parsed[1].max(initial=0))
        if parsed is None or (n_features is not None and largest > n_features):
            if invalid == "raise" or n_features is None:
                raise _error(where, text, line, n_features)
            parsed, largest = _parse_lines(text, n_features), n_features
        chunks.append(parsed)
        width = max(width, largest)
        line += len(lines)
    if not any(len(labels) for labels, *_ in chunks):
        raise ValueError(f"{where}: the file holds no record.")
    if n_features is None:
        limits().check("features", width, where)
    labels, indices, values, counts = map(np.concatenate, zip(*chunks, strict=True))
    indptr = np.concatenate([[0], counts]).cumsum()
    return compressed((values, indices - 1, indptr), (indptr.size - 1, width)), labels


def _parse(text: bytes) -> Parsed | None:
    """Parse whole lines at once: labels, 1-based indices, values, pairs per record."""
    if _RECORDS.fullmatch(text) is None:
        return None
    counts = np.array(
        [line.count(b":") for line in text.split(b"\n") if line.strip()], dtype=np.int64
    )
    # NumPy reads blank text as one number.
    numbers = np.fromstring(text.replace(b":", b" "), sep=" ")[: counts.size + 2 * counts.sum()]
    is_label = np.zeros(numbers.size, dtype=bool)
    is_label[(1 + 2 * counts).cumsum() - (1 + 2 * counts)] = True
    pairs = numbers[~is_label]
    indices = pairs[0::2].astype(np.int64)
    if indices.min(initial=1) < 1:
        return None
    return numbers[is_label], indices, pairs[1::2].copy(), counts


def _parse_lines(text: bytes, n_features: int) -> Parsed:
    """Parse lines one by one, as far as they can be read: what is no number is missing.

    A pair whose index is no feature says nothing about any, so it is left out.
    """
    labels: list[float] = []
    indices: list[int] = []
    values: list[float] = []
    counts: list[int] = []
    for line in text.split(b"\n"):
        words = line.split()
        if not words:
            continue
        labels.append(_number(words[0]))
        pairs = [word.partition(b":") for word in words[1:]]
        kept = [
            (int(index), _number(value))
            for index, _, value in pairs
            if index.isdigit() and len(index) <= 15 and 1 <= int(index) <= n_features
        ]
        indices += [index for index, _ in kept]
        values += [value for _, value in kept]
        counts.append(len(kept))
    columns, sizes = (np.array(part, dtype=np.int64) for part in (indices, counts))
    return np.array(labels), columns, np.array(values), sizes


def _number(text: bytes) -> float:
    value = cells.number(text)
    return np.nan if value is None else value


def _error(where: str, text: bytes, line: int, n_features: int | None) -> ValueError:
    for number, record in enumerate(text.split(b"\n"), start=line):
        parsed = _parse(record + b"\n")
        if parsed is None:
            return ValueError(
                f"{where}, line {number}: write a numeric label, then index:value pairs separated "
                "by spaces, with indices from 1."
            )
        if n_features is not None and parsed[1].max(initial=0) > n_features:
            return ValueError(
                f"{where}, line {number}: an index is beyond n_features={n_features}."
            )
    return ValueError(f"{where}: cannot be read as LIBSVM.")

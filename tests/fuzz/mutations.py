"""Ways to damage a file: bytes, cells of text, values of JSON, and bombs."""

import bz2
import contextlib
import gzip
import io
import json
import lzma
import random
import zipfile
from typing import Any

import numpy as np

from sparsedp.release.read import content_hash

TOKENS = (
    *(b"\0", b"\xff\xfe", b"\n", b"\r", b'"', b",", b"'", b"=", b"[[", b"}}", b"#", b"\\"),
    *(b"NaN", b"inf", b"-inf", b"1e400", b"-1e308", b"9" * 400, b"secret", b"1:1", b"0x10"),
    *(b"\xef\xbb\xbf", b"PK\x03\x04", b"PAR1", b"true", b"null", b"-0", b"1_000", "٣".encode()),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 0.5, -0.5, 1e-320, 1e300, 1e308, 10**18, 10**400, -(10**30)),
    *("", "inf", "nan", "x" * 1000, "Selections", "sound", "published", "none", [], {}, [[]]),
    *([1, 2, 3], [None], {"name": "FrankWolfe"}, {"a": {"b": {"c": 1}}}, 0.1, 1e-6, 1e12),
)


def damaged(data: bytes, random: random.Random) -> bytes:
    """One to three changes of bytes."""
    for _ in range(random.randint(1, 3)):
        n = len(data)
        a, b = sorted((random.randint(0, n), random.randint(0, n)))
        b = min(b, a + random.choice((1, 8, 100, n)))
        match random.randrange(8):
            case 0:
                data = data[:a]
            case 1:
                data = data[:a] + data[b:]
            case 2:
                data = data[:b] + data[a:b] * random.choice((1, 2, 50)) + data[b:]
            case 3:
                data = data[:a] + random.choice(TOKENS) + data[a:]
            case 4:
                data = data[:a] + random.choice(TOKENS) + data[a + 1 :]
            case 5:
                data = data[:a] + random.randbytes(random.choice((1, 4, 64))) + data[b:]
            case _:
                flipped = bytearray(data)
                for _ in range(random.choice((1, 1, 4, 16))):
                    if flipped:
                        flipped[random.randrange(n)] ^= 1 << random.randrange(8)
                data = bytes(flipped)
        data = data[: 1 << 20]
    return data


def damaged_text(data: bytes, random: random.Random) -> bytes:
    """Changes of lines and cells, or of bytes."""
    if random.random() < 0.4:
        return damaged(data, random)
    lines = data.split(b"\n")
    for _ in range(random.randint(1, 3)):
        k = random.randrange(len(lines))
        match random.randrange(5):
            case 0:
                del lines[k]
            case 1:
                lines.insert(k, random.choice(lines or [b""]))
            case 2:
                lines[k] = random.choice(TOKENS) * random.choice((1, 1, 3, 2000))
            case 3:
                separator = random.choice((b",", b" ", b"=", b":"))
                cells = lines[k].split(separator)
                cells[random.randrange(len(cells))] = random.choice(TOKENS)
                lines[k] = separator.join(cells)
            case 4:
                lines[k] = lines[k] + random.choice((b",", b" 2:1", b" # x", b"\t", b" = 1"))
        lines = lines or [b""]
    return b"\n".join(lines)


def damaged_npz(data: bytes, random: random.Random) -> bytes:
    """Arrays of other types, shapes and values, or other bytes."""
    if random.random() < 0.4:
        return damaged(data, random)
    with np.load(io.BytesIO(data)) as file:
        arrays = dict(file)
    for _ in range(random.randint(1, 2)):
        name = random.choice(list(arrays))
        value = arrays[name]
        if not value.size:
            continue
        match random.randrange(6):
            case 0:
                kind = random.choice(("U3", "f2", "i1", "u8", "?", "c16", "M8[D]", "S2", "f4"))
                with np.errstate(all="ignore"):
                    arrays[name] = value.astype(float).astype(int).astype(kind)
            case 1:
                arrays[name] = value.reshape(-1)[: random.randrange(value.size)]
            case 2:
                arrays[name] = np.resize(value, random.choice(((3,), (2, 60), (60, 1), (0, 2), ())))
            case 3:
                wild = random.choice((np.nan, np.inf, -1, 10**9, -(2**60), 1e308, 5e-324, 2.5))
                kind = float if isinstance(wild, float) else np.int64
                with np.errstate(all="ignore"):
                    arrays[name] = value.astype(kind)
                arrays[name].reshape(-1)[random.randrange(value.size)] = wild
            case 4:
                arrays[random.choice(("X", "y", "data", "shape", "feature_names"))] = value
            case 5:
                if len(arrays) > 1:
                    del arrays[name]
    buffer = io.BytesIO()
    random.choice((np.savez, np.savez_compressed))(buffer, **arrays)
    return buffer.getvalue()


def damaged_parquet(data: bytes, random: random.Random) -> bytes:
    """Columns of other types, with gaps, doubled or missing; or other bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if random.random() < 0.5:
        return damaged(data, random)
    # One thread: this runs in forked children.
    table = pq.ParquetFile(io.BytesIO(data)).read(use_threads=False)
    columns = {name: table[name].to_pylist() for name in table.column_names}
    name = random.choice(list(columns))
    wild = random.choice((None, "secret", True, 1e308, float("nan"), [1], {"a": 1}, b"x", 2**62))
    match random.randrange(4):
        case 0:
            columns[name] = [wild] * len(columns[name])
        case 1:
            columns[name][random.randrange(60)] = None
        case 2:
            columns[name] = [str(value) for value in columns[name]]
        case 3:
            columns[name + random.choice(("2", " ", ""))] = columns.pop(name)
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer, row_group_size=random.choice((7, 60)))
    return buffer.getvalue()


def damaged_json(data: bytes, random: random.Random) -> bytes:
    """Values of other types, sizes and signs at random places, often with a right hash."""
    if random.random() < 0.25:
        return damaged(data, random)
    content = json.loads(data)
    for _ in range(random.randint(1, 3)):
        here: Any = content
        if random.random() < 0.4 and isinstance(content.get("privacy"), dict):
            here = content["privacy"]
            if random.random() < 0.6 and isinstance(here.get("events"), list) and here["events"]:
                here = here["events"]
        for name in ("shapes", "interactions"):
            if random.random() < 0.3 and isinstance(content.get(name), list):
                here = content[name]
        while True:
            keys = list(here) if isinstance(here, dict) else list(range(len(here)))
            if not keys:
                break
            key = random.choice(keys)
            if isinstance(here[key], dict | list) and here[key] and random.random() < 0.75:
                here = here[key]
                continue
            _change(here, key, random)
            break
    if random.random() < 0.5:
        content.pop("sha256", None)
        content["sha256"] = content_hash(content)
    text = json.dumps(content)
    if random.random() < 0.03:
        text = text.replace("[", "[" * random.choice((1000, 100_000)), 1)
    return text.encode()


def _change(here: Any, key: Any, random: random.Random) -> None:
    value = here[key]
    match random.randrange(5):
        case 0:
            del here[key]
        case 1 if isinstance(value, int | float) and not isinstance(value, bool):
            factor = random.choice((-1, 0, 0.5, 2, 1e6, 1e-6))
            with contextlib.suppress(OverflowError):  # a whole number beyond all doubles stays
                here[key] = value * factor
        case 2 if isinstance(here, dict):
            here[random.choice(("extra", "count", "event", "name", "epsilon"))] = value
        case 3 if isinstance(here, list):
            here.extend([value] * random.choice((1, 2, 300)))
        case _:
            here[key] = random.choice(VALUES)


def damaged_zip(data: bytes, random: random.Random) -> bytes:
    """Other bytes of the files in an archive, or of the archive itself."""
    if random.random() < 0.3:
        return damaged(data, random)
    written = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as archive,
        zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as changed,
    ):
        names = archive.namelist()
        victim = random.choice([name for name in names if "sheet" in name] or names)
        for name in names:
            content = archive.read(name)
            if name == (victim if random.random() < 0.8 else random.choice(names)):
                content = damaged(content, random)
            changed.writestr(name, content)
    return written.getvalue()


def bombs(size: int) -> dict[str, bytes]:
    """Small files that unpack to `size` bytes or more."""
    arrays = io.BytesIO()
    np.savez_compressed(arrays, X=np.zeros((size // 80, 10)), y=np.zeros(size // 80))
    sheet, zeros = io.BytesIO(), np.zeros(10 * size // 8)
    with zipfile.ZipFile(sheet, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", bytes(size))
    return {
        "b.csv.xz": lzma.compress(b"a,b,color,y\n" + b"0,0,red,0\n" * (size // 10), preset=1),
        "b.csv.gz": gzip.compress(b"a,b,color,y\n" + bytes(size)),
        "b.csv.bz2": bz2.compress(b"a,b,color,y\n" + b"," * size),
        "b.svm.gz": gzip.compress(b"1 1:1\n" * (size // 6)),
        "b.npz": arrays.getvalue(),
        "b.feather": _feather({name: zeros for name in ("a", "b", "color", "y")}),
        "b.xlsx": sheet.getvalue(),
        "b.jsonl": b'{"a": ' + b"[" * (1 << 20) + b"]" * (1 << 20) + b"}",
        "b.json": b'{"format": ' + b"[" * (1 << 20),
        "b.toml": b"[features.color]\ncategories = ["
        + b",".join(b'"%d"' % k for k in range(200_000))
        + b"]\n",
    }


def _feather(columns: dict[str, np.ndarray]) -> bytes:
    import pyarrow as pa
    import pyarrow.feather

    written = io.BytesIO()
    pa.feather.write_feather(pa.table(columns), written, compression="zstd")
    return written.getvalue()

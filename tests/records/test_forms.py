"""Standard C, for compilers that are neither GCC nor Clang: the same bits (_kernels/wide.h)."""

import ctypes
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.ctypeslib import ndpointer

KERNELS = Path(__file__).parents[2] / "src" / "sparsedp" / "_kernels"
FLAGS = ["-O3", "-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno"]
SIZE, WIDTH, D, N = ctypes.c_ssize_t, 40, 13, 70
NUMBERS, PLACES, NARROW = ndpointer(np.float64), ndpointer(np.intp), ndpointer(np.int32)


def compiled(folder: Path, name: str, *flags: str) -> ctypes.CDLL:
    library, source = folder / f"{name}.so", Path(__file__).with_name("forms.c")
    includes = [f"-I{KERNELS}", f"-I{KERNELS / 'sums'}"]
    command = ["cc", "-shared", "-fPIC", *FLAGS, *flags, *includes, "-o", library, source, "-lm"]
    subprocess.run(command, check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.add_in_fours.argtypes = [NUMBERS, SIZE, NUMBERS, NUMBERS]
    ends = [NUMBERS, NUMBERS]
    head = [NARROW, NARROW, NUMBERS, SIZE]
    loaded.sparse_in_fours.argtypes = [*head, NUMBERS, PLACES, NUMBERS, NUMBERS, SIZE, *ends]
    head = [NUMBERS, SIZE, SIZE]
    loaded.dense_in_fours.argtypes = [*head, NUMBERS, PLACES, NUMBERS, NUMBERS, SIZE, *ends]
    head = [NARROW, NARROW, NUMBERS]
    loaded.sums_in_fours.argtypes = [*head, NUMBERS, SIZE, NUMBERS]
    spans = [PLACES, PLACES, NUMBERS, NUMBERS]
    loaded.outputs_in_fours.argtypes = [*head, SIZE, NUMBERS, SIZE, *spans]
    return loaded


@pytest.fixture(scope="module")
def forms(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forms")
    return compiled(folder, "registers"), compiled(folder, "standard", "-DSPARSEDP_PLAIN")


def of_all_sizes(rng, *shape):
    """Numbers of both signs and of many sizes, so that every other order rounds differently."""
    return rng.standard_normal(shape) * 2.0 ** rng.integers(-40, 40, shape)


def same_bits(left, right):
    equal = left.view(np.int64) == right.view(np.int64)
    return (equal | (np.isnan(left) & np.isnan(right))).all()


def test_pairs(forms):
    rng = np.random.default_rng(1)
    for n in (0, 3, 16, 47, 1000):
        x, high, low = of_all_sizes(rng, n), of_all_sizes(rng, 16), of_all_sizes(rng, 16)
        answers = []
        for form in forms:
            sums = high.copy(), low.copy()
            form.add_in_fours(x, n, *sums)
            answers.append(np.concatenate(sums))
        assert same_bits(*answers)
        assert n == 0 or not np.array_equal(answers[0][:16], high)


@pytest.mark.parametrize("loop", ["dense", "sparse"])
def test_norms(forms, loop):
    rng = np.random.default_rng(2)
    start, lengths = of_all_sizes(rng, WIDTH), abs(of_all_sizes(rng, D))
    x, mapped = of_all_sizes(rng, N, D), of_all_sizes(rng, D, WIDTH)
    x[1], x[2, 3], x[3, 4], x[4, 5] = 5e-324, 1e300, np.inf, np.nan
    firsts = np.sort(rng.integers(0, D // 2, WIDTH // 8))
    answers = []
    for form in forms:
        out = np.zeros((2, N))
        if loop == "dense":
            tiles = np.ascontiguousarray(mapped.reshape(D, WIDTH // 8, 8).transpose(1, 0, 2))
            form.dense_in_fours(x, N, D, tiles, firsts, start, lengths, WIDTH // 8, *out)
        else:
            indptr = np.arange(0, (N + 1) * D, D, dtype=np.int32)
            columns = np.tile(np.arange(D, dtype=np.int32), N)
            form.sparse_in_fours(
                indptr, columns, x.ravel(), N, mapped, firsts, start, lengths, WIDTH, *out
            )
        answers.append(out)
    assert same_bits(*answers)
    assert (np.delete(answers[0], 4, axis=1) > 0).all()


def test_products_of_sparse_records(forms):
    rng = np.random.default_rng(3)
    x, start, weights = of_all_sizes(rng, N * D), of_all_sizes(rng, 11), of_all_sizes(rng, D, 11)
    indptr = np.arange(0, (N + 1) * D, D, dtype=np.int32)
    columns = np.tile(np.arange(D, dtype=np.int32), N)
    begins = np.repeat([0, 1, 4], [6, 4, 3])
    ends = np.repeat([11, 10, 7], [6, 4, 3])
    answers = []
    for form in forms:
        sums, out = np.zeros(D), np.zeros((N, 11))
        form.sums_in_fours(indptr, columns, x, start[:1].repeat(N), N, sums)
        form.outputs_in_fours(indptr, columns, x, N, weights, 11, begins, ends, start, out)
        answers.append(np.append(sums, out))
    assert same_bits(*answers)
    assert (answers[0] != 0).all()


HEADERS = [
    "walk/step.h",
    "sums/norms.h",
    "sums/products_sparse.h",
    "sums/slopes.h",
    "sums/levels.h",
]


@pytest.mark.parametrize("header", HEADERS)
def test_standard_c_is_all_that_it_takes(tmp_path, header):
    """As strictly as compilers can; and no name that headers of Windows have taken."""
    source = tmp_path / "header.c"
    source.write_text(f'#define far\n#define near\n#define small char\n#include "{header}"\n')
    strict = ["-std=c11", "-pedantic-errors", "-DSPARSEDP_PLAIN", "-fsyntax-only"]
    subprocess.run(["cc", *strict, f"-I{KERNELS}", f"-I{KERNELS / 'sums'}", source], check=True)


def test_all_else_is_standard():
    """No attribute, builtin, pragma, wide whole number or vector type outside of the one header."""
    other = re.compile(
        r"__attribute__|__builtin|__int128|_Pragma|#\s*pragma|immintrin|__asm|typeof"
    )
    sources = [*KERNELS.rglob("*.h"), *KERNELS.rglob("*.pyx")]
    found = {path.name for path in sources if other.search(path.read_text())}
    assert found == {"wide.h"}

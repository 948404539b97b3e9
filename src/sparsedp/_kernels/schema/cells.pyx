"""Loops over raw cells, compiled; see ``cells_reference``."""

from cpython.dict cimport PyDict_GetItem
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_CheckExact
from libc.math cimport NAN, cos, fmod, log1p as log1p_of, sin
from libc.stdint cimport int64_t, uint8_t, uint64_t

import math

cdef extern from "Python.h":
    int PyUnicode_IS_ASCII(object text)
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL

cdef enum:
    LONGEST = 22  # powers of ten that are doubles
    DIGITS = 18  # that surely fit 64 bits
    ZERO = 48  # the digit
    NINE = 57
    SHORTEST = 6  # of a text that is no word for a missing cell or a truth value
    LONGEST_WORD = 256

cdef uint64_t MOST = <uint64_t>1 << 53
cdef double[LONGEST + 1] POWERS
cdef double TURN = 2 * math.pi
for _e in range(LONGEST + 1):
    POWERS[_e] = 10.0 ** _e


cdef bint read(
    const char* text, Py_ssize_t size, char decimal, char thousands, double* value
) noexcept nogil:
    """One number in plain digits: a whole number up to 2^53 over a power of ten, rounded once."""
    cdef Py_ssize_t i = 0, n_digits = 0, n_rest = 0, in_group = 0
    cdef bint negative = False, grouped = False
    cdef uint64_t digits = 0
    while i < size and text[i] == b" ":
        i += 1
    while size > i and text[size - 1] == b" ":
        size -= 1
    if i == size:  # an empty cell
        value[0] = NAN
        return True
    if i < size and (text[i] == b"-" or text[i] == b"+"):
        negative = text[i] == b"-"
        i += 1
    while i < size and text[i] != decimal:
        if ZERO <= text[i] <= NINE:
            digits = digits * 10 + <uint64_t>(text[i] - ZERO)
            n_digits += 1
            in_group += 1
        elif thousands != 0 and text[i] == thousands:
            if in_group != 3 if grouped else (in_group < 1 or in_group > 3):
                return False
            grouped, in_group = True, 0
        else:
            return False
        if n_digits > DIGITS:
            return False
        i += 1
    if grouped and in_group != 3:
        return False
    if i < size:
        i += 1
        while i < size:
            if not ZERO <= text[i] <= NINE:
                return False
            digits = digits * 10 + <uint64_t>(text[i] - ZERO)
            n_digits += 1
            n_rest += 1
            if n_digits > DIGITS:
                return False
            i += 1
    if n_digits == 0 or digits > MOST:
        return False
    # Both are doubles, and a quotient of doubles is rounded once: what a correct reader gives.
    value[0] = <double>digits / POWERS[n_rest]
    if negative:
        value[0] = -value[0]
    return True


def numbers(
    list cells, double[::1] out, uint8_t[::1] left, str decimal, str thousands, bint floats
):
    """Numbers of texts in plain digits, as they are; NaN of None and of blanks."""
    cdef char point = ord(decimal), mark = ord(thousands) if thousands else 0
    cdef Py_ssize_t i, size
    cdef const char* text
    for i in range(len(cells)):
        cell = cells[i]
        left[i] = 0
        if PyUnicode_CheckExact(cell) and PyUnicode_IS_ASCII(cell):
            text = PyUnicode_AsUTF8AndSize(cell, &size)
            left[i] = not read(text, size, point, mark, &out[i])
        elif cell is None:
            out[i] = NAN
        elif PyFloat_CheckExact(cell) and floats:
            out[i] = PyFloat_AS_DOUBLE(cell)
        else:
            left[i] = 1


def seen(list cells, dict table, double[::1] out, uint8_t[::1] left):
    """Values of texts that the table has; NaN of None and of NaN."""
    cdef Py_ssize_t i
    cdef PyObject* found
    for i in range(len(cells)):
        cell = cells[i]
        left[i] = 0
        out[i] = NAN
        if PyUnicode_CheckExact(cell):
            found = PyDict_GetItem(table, cell)
            if found is NULL:
                left[i] = 1
            else:
                out[i] = <object>found
        elif cell is not None:
            left[i] = not (
                PyFloat_CheckExact(cell) and PyFloat_AS_DOUBLE(cell) != PyFloat_AS_DOUBLE(cell)
            )


cdef inline bint in_word(char c) noexcept nogil:
    return ZERO <= c <= NINE or c == b"_" or b"a" <= c <= b"z" or b"A" <= c <= b"Z"


cdef inline bint is_blank(char c) noexcept nogil:
    """As Python's str.strip has it."""
    return c == b" " or 9 <= c <= 13 or 28 <= c <= 31


cdef inline bint in_numbers(char c) noexcept nogil:
    """Letters that a number may have."""
    return c == b"e" or c == b"E" or c == b"j" or c == b"J"


cdef bint is_plain(const char* text, Py_ssize_t size) noexcept nogil:
    """Whether a text can be neither a number nor a word for a missing cell or a truth value."""
    cdef Py_ssize_t i = 0
    while i < size and is_blank(text[i]):
        i += 1
    while size > i and is_blank(text[size - 1]):
        size -= 1
    if size - i < SHORTEST:
        return False
    while i < size:
        if in_word(text[i]) and text[i] > NINE and text[i] != b"_" and not in_numbers(text[i]):
            return True
        i += 1
    return False


def count_words(list cells, slots, double[:, ::1] counts, uint8_t[::1] left):
    """Add one to the column of each word of plain ASCII texts, in lower case."""
    cdef Py_ssize_t i, j, size, length
    cdef const char* text
    cdef char[LONGEST_WORD] word
    for i in range(len(cells)):
        cell = cells[i]
        left[i] = 1
        if not (PyUnicode_CheckExact(cell) and PyUnicode_IS_ASCII(cell)):
            continue
        text = PyUnicode_AsUTF8AndSize(cell, &size)
        if not is_plain(text, size):
            continue
        j = length = 0
        while j <= size and length < LONGEST_WORD:
            if j < size and in_word(text[j]):
                word[length] = text[j] + 32 if b"A" <= text[j] <= b"Z" else text[j]
                length += 1
            elif length:
                counts[i, <Py_ssize_t>slots[word[:length].decode("ascii")]] += 1
                length = 0
            j += 1
        if length < LONGEST_WORD:
            left[i] = 0
        else:
            counts[i, :] = 0


def one_hot(const double[::1] codes, const int64_t[::1] slots, double[:, :] out):
    """A one in the column of each code, if it has one, and zeros elsewhere."""
    cdef Py_ssize_t i, j
    cdef int64_t slot
    with nogil:
        for i in range(codes.shape[0]):
            for j in range(out.shape[1]):
                out[i, j] = 0.0
            slot = slots[<Py_ssize_t>codes[i]]
            if slot >= 0:
                out[i, slot] = 1.0


def circle(const double[::1] values, double period, double[:, :] out):
    """Sine and cosine of finite numbers, one at a time."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(values.shape[0]):  # not both in one loop: a compiler may join the two
            out[i, 0] = sin(TURN * (fmod(values[i], period) / period))
        for i in range(values.shape[0]):
            out[i, 1] = cos(TURN * (fmod(values[i], period) / period))


def log1p(const double[::1] values, double[::1] out):
    """Logarithms of numbers above -1, plus one, one at a time."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(values.shape[0]):
            out[i] = log1p_of(values[i])

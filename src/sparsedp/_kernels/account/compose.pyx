"""One adaptive selection after another: the loop behind the exact composition.

The compiled twin of ``compose_reference``; see there for what is computed and why the result is
an upper bound.
"""

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport fabs

from sparsedp._kernels.account.compose_reference import ALLOWANCE, selection_weights


def compose_selections(double[::1] values, int count, int cells, double step):
    """Apply the selection operator ``count`` times; same contract as the reference."""
    weights = selection_weights(cells, step)
    cdef double[::1] low = weights.low
    cdef double[::1] high = weights.high
    cdef double[::1] bulge = weights.bulge
    cdef double[::1] gap = weights.gap
    cdef double[::1] shrink = weights.shrink
    cdef double growth = weights.growth
    cdef double lift = 1.0 + ALLOWANCE
    cdef Py_ssize_t n = values.shape[0], width = n + 2 * cells
    cdef Py_ssize_t i, r, active = 0
    cdef int k
    cdef double best, left, right, bend, slack, inside
    padded = np.zeros(width)
    bends = np.zeros(width)
    output = np.array(values)
    cdef double[::1] v = padded
    cdef double[::1] g = bends
    cdef double[::1] out = output

    for i in range(n):
        if out[i] > 0.0:
            active = i + 1
    for k in range(count):
        PyErr_CheckSignals()  # Ctrl-C
        for i in range(n):
            v[cells + i] = out[i]
        for r in range(cells):
            v[r] = gap[r] + shrink[r] * out[min(cells - r, n - 1)]
            v[cells + n + r] = out[n - 1]
        for i in range(width - 1):
            g[i] = growth * v[i] + (v[i] - v[i + 1])
        g[width - 1] = growth * v[width - 1]
        # Zeros stay zero until the front of positive values, one reach per step, arrives.
        active = min(active + cells, n)
        for i in range(active):
            left = high[0] * v[i + cells]
            best = left
            for r in range(cells):
                right = low[r + 1] * v[i + r + 1] + high[r + 1] * v[i + r + 1 + cells]
                if right > best:
                    best = right
                bend = bulge[r] * (g[i + r] - g[i + r + cells])
                slack = bend - fabs(right - left)
                if slack > 0.0:
                    inside = max(left, right) + slack * slack / (4.0 * bend)
                    if inside > best:
                        best = inside
                left = right
            out[i] = best * lift
    return output

/* Coarse sums over dense columns, from fewer bytes and in whole numbers, with bounds on their errors.

   A column is x = step * q + rest with bytes q and a known norm of the rest. Derivatives are those
   at weights zero, where every sum is known, plus a change; the change is unit * p + rest, with
   16-bit p. The product of q and p is exact. See mechanisms/lazy.md. */
#ifndef SPARSEDP_LAZY_COARSE_H
#define SPARSEDP_LAZY_COARSE_H

#include "lazy_state.h"

#define COARSEST 3.0 /* error of references, in the logarithm of a weight: above a scale that is off
                        by much more no true weight would be seen, and proposals never end */
#define FINEST 127
#define FINEST_CHANGE 16383
#define FLUSHED 1024 /* terms whose sum fits into 32 bits: FLUSHED * FINEST * FINEST_CHANGE < 2^31 */

WIDE static int64_t coarse_product(const int8_t *restrict q, const int16_t *restrict p, int64_t n) {
    int64_t sum = 0;
    for (int64_t start = 0; start < n; start += FLUSHED) {
        int64_t end = start + FLUSHED < n ? start + FLUSHED : n;
        int32_t part = 0;
        for (int64_t i = start; i < end; i++) part += (int16_t)q[i] * p[i];
        sum += part;
    }
    return sum;
}

WIDE static double largest_change(const float *restrict r, const float *restrict base, int64_t n) {
    double largest = 0;
    for (int64_t i = 0; i < n; i++) {
        double change = fabs((double)r[i] - base[i]);
        largest = change > largest ? change : largest;
    }
    return largest;
}

WIDE static void round_changes(const float *restrict r, const float *restrict base, int64_t n,
                               double inverse, int16_t *restrict p) {
    for (int64_t i = 0; i < n; i++) p[i] = (int16_t)(int32_t)rint(((double)r[i] - base[i]) * inverse);
}

/* Round changes of all derivatives to multiples of a power of two. */
static void coarsen(walk_t *s) {
    if (s->coarse_fresh) return;
    freshen(s);
    int64_t n = s->n;
    for (int c = 0; c < s->n_outputs; c++) {
        const float *r = s->r + c * n, *base = s->base_r + c * n;
        double largest = largest_change(r, base, n), unit = 0;
        int exponent;
        if (largest > 0) {
            frexp(largest / FINEST_CHANGE, &exponent);
            unit = ldexp(1, exponent); /* more than the quotient */
        }
        round_changes(r, base, n, unit > 0 ? 1 / unit : 0, s->changes + c * n);
        s->change_unit[c] = unit;
        s->change_norm[c] = sqrt(squared_distance(r, base, n)) * (1 + 1e-8);
        s->change_rest[c] = 0.5 * unit * sqrt((double)n) * (1 + 1e-8);
    }
    s->coarse_fresh = 1;
    s->spent += TIME_ROW * n * s->n_outputs;
}

static inline int has_coarse(const walk_t *s, int64_t k) { return s->coarse && k < s->n_features; }

/* How far the coarse sum of a column can be from the exact one. */
static inline double coarse_error(const walk_t *s, int64_t k, int c) {
    double rest = s->coarse_rests[k], norm = s->norms[k] + rest;
    return (rest * s->change_norm[c] + norm * s->change_rest[c]) * (1 + 1e-6);
}

static double coarse_sum(walk_t *s, int64_t k, int c) {
    int64_t product = coarse_product(s->coarse + k * s->n, s->changes + c * s->n, s->n);
    s->counters[COARSE]++;
    s->spent += TIME_COARSE * (double)s->n;
    return s->start[k * s->n_outputs + c] +
           s->coarse_steps[k] * s->change_unit[c] * (double)product;
}

/* Bytes for one column, and the norm of what they leave out. */
WIDE static void coarse_column(const float *restrict x, int64_t size, int8_t *restrict q,
                               float *step, double *rest) {
    float largest = 0;
    for (int64_t i = 0; i < size; i++) largest = fabsf(x[i]) > largest ? fabsf(x[i]) : largest;
    double each = *step = largest / FINEST, inverse = each > 0 ? 1 / each : 0, squares = 0;
    for (int64_t i = 0; i < size; i++) {
        double whole = rint(x[i] * inverse);
        whole = whole > FINEST ? FINEST : whole < -FINEST ? -FINEST : whole;
        double left = x[i] - each * whole;
        q[i] = (int8_t)whole;
        squares += left * left;
    }
    *rest = sqrt(squares);
}

#endif

/* Inner loops of the products with records.

   Every clone does the same IEEE operations in the same order for every record: no fast-math, no
   contraction. What a record adds depends on nothing but the record. */
#ifndef SPARSEDP_PRODUCTS_ROWS_H
#define SPARSEDP_PRODUCTS_ROWS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "wide.h"

#define GROUP 8 /* dense records that may be added up before they meet the pair */
#define CHUNK 64 /* columns at a time, so that what is in use stays in the first cache */
#define PAIRS 16 /* kept apart where one would have to wait for its last addition */

/* Add a term; what rounding takes from the high part goes to the low one (Knuth). */
static inline void add(double *high, double *low, double term) {
    double old = *high, new = old + term, part = new - old;
    *low += (old - (new - part)) + (term - part);
    *high = new;
}

/* Carry the low part over, so that it is again a rounding error of the high one. */
static inline void tidy(double *high, double *low) {
    double rest = *low;
    *low = 0.0;
    add(high, low, rest);
}

/* Add another pair. */
static inline void merge(double *high, double *low, double other, double rest) {
    add(high, low, other);
    *low += rest;
    tidy(high, low);
}

static inline double folded(const double *lanes) {
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
           ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

WIDE static double dot(const double *restrict x, const double *restrict w, ptrdiff_t d) {
    double lanes[8] = {0};
    ptrdiff_t j = 0;
    for (; j + 8 <= d; j += 8)
        for (int l = 0; l < 8; l++) lanes[l] += x[j + l] * w[j + l];
    for (int l = 0; j < d; j++, l++) lanes[l] += x[j] * w[j];
    return folded(lanes);
}

/* Add x * r[k] to the pair of every output. */
WIDE static void add_outputs(double x, const double *restrict r, ptrdiff_t n_outputs,
                             double *restrict high, double *restrict low) {
    for (ptrdiff_t k = 0; k < n_outputs; k++) add(high + k, low + k, x * r[k]);
}

/* Add eight records (x - c) * r plainly, one after the other, and their sums to pairs. */
WIDE static void add_group(const double *restrict x, ptrdiff_t stride, const double *restrict r,
                           const double *restrict c, double *restrict high, double *restrict low,
                           ptrdiff_t d) {
    for (ptrdiff_t j = 0; j < d; j++) {
        const double *e = x + j;
        double s = (e[0] - c[j]) * r[0];
        s += (e[stride] - c[j]) * r[1];
        s += (e[2 * stride] - c[j]) * r[2];
        s += (e[3 * stride] - c[j]) * r[3];
        s += (e[4 * stride] - c[j]) * r[4];
        s += (e[5 * stride] - c[j]) * r[5];
        s += (e[6 * stride] - c[j]) * r[6];
        s += (e[7 * stride] - c[j]) * r[7];
        add(high + j, low + j, s);
    }
}

/* Add one record. */
WIDE static void add_record(const double *restrict x, double r, const double *restrict c,
                            double *restrict high, double *restrict low, ptrdiff_t d) {
    for (ptrdiff_t j = 0; j < d; j++) add(high + j, low + j, (x[j] - c[j]) * r);
}

/* Add m * (high + low), its products exact, to a pair for every entry of m. */
WIDE static void add_mapped(const double *restrict m, double high, double low,
                            double *restrict first, double *restrict second, ptrdiff_t n) {
    for (ptrdiff_t q = 0; q < n; q++) {
        double product = m[q] * high;
        add(first + q, second + q, product);
        second[q] += fma(m[q], high, -product) + m[q] * low;
    }
}

WIDE static void tidy_pairs(double *restrict high, double *restrict low, ptrdiff_t n) {
    for (ptrdiff_t j = 0; j < n; j++) tidy(high + j, low + j);
}

/* Add four terms to four pairs at a time. */
#define ADD_FOUR(high, low, term)                                                       \
    do {                                                                                \
        four new = PLUS(high, term), part = MINUS(new, high);                           \
        low = PLUS(low, PLUS(MINUS(high, MINUS(new, part)), MINUS(term, part)));        \
        high = new;                                                                     \
    } while (0)

/* Add values to sixteen pairs in turn; the rest goes to the first ones. */
WIDE static void add_values(const double *restrict x, ptrdiff_t n, double *restrict high,
                            double *restrict low) {
    four a = FOUR(high), b = FOUR(high + 4), c = FOUR(high + 8), d = FOUR(high + 12);
    four e = FOUR(low), f = FOUR(low + 4), g = FOUR(low + 8), h = FOUR(low + 12);
    ptrdiff_t i = 0;
    for (; i + PAIRS <= n; i += PAIRS) {
        ADD_FOUR(a, e, FOUR(x + i));
        ADD_FOUR(b, f, FOUR(x + i + 4));
        ADD_FOUR(c, g, FOUR(x + i + 8));
        ADD_FOUR(d, h, FOUR(x + i + 12));
    }
    memcpy(high, &a, sizeof a), memcpy(high + 4, &b, sizeof b);
    memcpy(high + 8, &c, sizeof c), memcpy(high + 12, &d, sizeof d);
    memcpy(low, &e, sizeof e), memcpy(low + 4, &f, sizeof f);
    memcpy(low + 8, &g, sizeof g), memcpy(low + 12, &h, sizeof h);
    for (int l = 0; i < n; i++, l++) add(high + l, low + l, x[i]);
}

#endif

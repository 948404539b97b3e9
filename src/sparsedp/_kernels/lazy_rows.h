/* Arithmetic of the lazy walk that looks at records: derivatives, their drift, sums over columns.

   Every derivative is a fixed sequence of IEEE operations on one record and public numbers, and
   every sum over a column adds in a fixed order, wherever it is computed from: so a score is one
   well-defined number, however it was found. No fast-math, no contraction. */
#ifndef SPARSEDP_LAZY_ROWS_H
#define SPARSEDP_LAZY_ROWS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__)
#define WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WIDE
#endif

#define LANES 8 /* partial sums, so that the compiler may use vector instructions */
#define CHUNK 256

enum { LOGISTIC = 0, SQUARED = 1, MULTINOMIAL = 2 };

static inline double least(double a, double b) { return a < b ? a : b; }
static inline double most(double a, double b) { return a > b ? a : b; }

/* exp within a relative error of 2^-45 for |x| <= 700; beyond, that of the nearer end. */
static inline double exponential(double x) {
    x = x < -700.0 ? -700.0 : x;
    x = x > 700.0 ? 700.0 : x;
    double shifted = x * 1.4426950408889634 + 0x1.8p52;
    double whole = shifted - 0x1.8p52;
    double rest = (x - whole * 6.93147180369123816490e-01) - whole * 1.90821492927058770002e-10;
    double p = 1.0 / 39916800;
    p = p * rest + 1.0 / 3628800;
    p = p * rest + 1.0 / 362880;
    p = p * rest + 1.0 / 40320;
    p = p * rest + 1.0 / 5040;
    p = p * rest + 1.0 / 720;
    p = p * rest + 1.0 / 120;
    p = p * rest + 1.0 / 24;
    p = p * rest + 1.0 / 6;
    p = p * rest + 0.5;
    p = p * rest + 1.0;
    p = p * rest + 1.0;
    uint64_t bits, exponent;
    memcpy(&exponent, &shifted, 8);
    memcpy(&bits, &p, 8);
    bits += exponent << 52; /* the low bits of `shifted` are the whole number of octaves */
    memcpy(&p, &bits, 8);
    return p;
}

static inline double clipped(double r, double bound) {
    r = r > bound ? bound : r;
    return r < -bound ? -bound : r;
}

static inline double logistic(double margin, double target, double bound) {
    return clipped(1.0 / (1.0 + exponential(-margin)) - target, bound);
}

static inline double squared(double margin, double target, double bound) {
    return clipped(margin - target, bound);
}

/* Derivatives at margins scale * (v + shift), written to r. */
WIDE static void derivatives(int loss, const double *restrict v, const double *restrict target,
                             int64_t n, double scale, double shift, double bound,
                             double *restrict r) {
    if (loss == LOGISTIC)
        for (int64_t i = 0; i < n; i++) r[i] = logistic(scale * (v[i] + shift), target[i], bound);
    else
        for (int64_t i = 0; i < n; i++) r[i] = squared(scale * (v[i] + shift), target[i], bound);
}

/* One record's multinomial derivative; v and r have `stride` between classes. */
static inline void multinomial_row(const double *v, int64_t stride, const double *shift, int k,
                                   double scale, int label, double bound, double *r, int64_t out) {
    double top = -HUGE_VAL, total = 0, largest = 0;
    for (int c = 0; c < k; c++) top = most(top, scale * (v[c * stride] + shift[c]));
    for (int c = 0; c < k; c++) {
        double e = exponential(scale * (v[c * stride] + shift[c]) - top);
        r[c * out] = e;
        total += e;
    }
    for (int c = 0; c < k; c++) {
        double e = r[c * out] / total - (c == label);
        r[c * out] = e;
        largest = most(largest, fabs(e));
    }
    double shrink = largest > bound ? bound / largest : 1.0;
    for (int c = 0; c < k; c++) r[c * out] = clipped(r[c * out] * shrink, bound);
}

static inline double folded(const double *lanes) {
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
           ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

/* Sum of x * r over the entries of a sparse column; x is NULL where all values are one. */
WIDE static double sparse_sum(const int32_t *restrict rows, const float *restrict x, int64_t size,
                            const double *restrict r) {
    double lanes[LANES] = {0};
    int64_t p = 0;
    if (x == NULL) {
        for (; p + LANES <= size; p += LANES)
            for (int l = 0; l < LANES; l++) lanes[l] += r[rows[p + l]];
        for (int l = 0; p < size; p++, l++) lanes[l] += r[rows[p]];
    } else {
        for (; p + LANES <= size; p += LANES)
            for (int l = 0; l < LANES; l++) lanes[l] += (double)x[p + l] * r[rows[p + l]];
        for (int l = 0; p < size; p++, l++) lanes[l] += (double)x[p] * r[rows[p]];
    }
    return folded(lanes);
}

/* The same sum for a dense column. */
WIDE static double dense_sum(const float *restrict x, int64_t n, const double *restrict r) {
    double lanes[LANES] = {0};
    int64_t p = 0;
    for (; p + LANES <= n; p += LANES)
        for (int l = 0; l < LANES; l++) lanes[l] += (double)x[p + l] * r[p + l];
    for (int l = 0; p < n; p++, l++) lanes[l] += (double)x[p] * r[p];
    return folded(lanes);
}

/* The same sum as `sparse_sum`, derivatives computed where they are needed. */
WIDE static double sparse_sum_on_the_fly(int loss, const int32_t *restrict rows,
                                       const float *restrict x, int64_t size,
                                       const double *restrict v, const double *restrict target,
                                       double scale, double shift, double bound) {
    double lanes[LANES] = {0}, margin[CHUNK], label[CHUNK], r[CHUNK];
    for (int64_t start = 0; start < size; start += CHUNK) {
        int64_t length = size - start < CHUNK ? size - start : CHUNK;
        for (int64_t p = 0; p < length; p++) {
            margin[p] = scale * (v[rows[start + p]] + shift);
            label[p] = target[rows[start + p]];
        }
        if (loss == LOGISTIC)
            for (int64_t p = 0; p < length; p++) r[p] = logistic(margin[p], label[p], bound);
        else
            for (int64_t p = 0; p < length; p++) r[p] = squared(margin[p], label[p], bound);
        if (x != NULL)
            for (int64_t p = 0; p < length; p++) r[p] = (double)x[start + p] * r[p];
        int64_t p = 0;
        for (; p + LANES <= length; p += LANES)
            for (int l = 0; l < LANES; l++) lanes[l] += r[p + l];
        for (int l = 0; p < length; p++, l++) lanes[l] += r[p];
    }
    return folded(lanes);
}

WIDE static double total_of(const double *restrict r, int64_t n) {
    double lanes[LANES] = {0};
    int64_t p = 0;
    for (; p + LANES <= n; p += LANES)
        for (int l = 0; l < LANES; l++) lanes[l] += r[p + l];
    for (int l = 0; p < n; p++, l++) lanes[l] += r[p];
    return folded(lanes);
}

WIDE static double squared_distance(const double *restrict a, const double *restrict b, int64_t n) {
    double lanes[LANES] = {0};
    int64_t p = 0;
    for (; p + LANES <= n; p += LANES)
        for (int l = 0; l < LANES; l++) {
            double e = a[p + l] - b[p + l];
            lanes[l] += e * e;
        }
    for (int l = 0; p < n; p++, l++) {
        double e = a[p] - b[p];
        lanes[l] += e * e;
    }
    return folded(lanes);
}

/* Write the margins down; return their squared norm and their sum. */
WIDE static void margins_of(const double *restrict v, int64_t n, double scale, double shift,
                            double *restrict margins, double *square, double *sum) {
    double squares[LANES] = {0}, sums[LANES] = {0};
    for (int64_t i = 0; i < n; i++) margins[i] = scale * (v[i] + shift);
    int64_t p = 0;
    for (; p + LANES <= n; p += LANES)
        for (int l = 0; l < LANES; l++) {
            squares[l] += margins[p + l] * margins[p + l];
            sums[l] += margins[p + l];
        }
    for (int l = 0; p < n; p++, l++) {
        squares[l] += margins[p] * margins[p];
        sums[l] += margins[p];
    }
    *square += folded(squares);
    *sum = folded(sums);
}

#define SHRINK 0.7 /* how far the scale may fall before the second bound on drift is given up */
#define STEEPEST 0.22389 /* largest u * sigmoid'(u), at u = 1.5434 */

/* Squared norm of the rates at which sigmoids change as all margins shrink by up to SHRINK. */
WIDE static double shrink_rate(const double *restrict margins, int64_t n) {
    double total = 0, rates[CHUNK];
    for (int64_t start = 0; start < n; start += CHUNK) {
        int64_t length = n - start < CHUNK ? n - start : CHUNK;
        for (int64_t i = 0; i < length; i++) {
            /* u * sigmoid'(u) is at most u / 4, STEEPEST, and u exp(-u), which falls from u = 1 on
               and is at most u over the beginning of the series of exp(u). */
            double u = fabs(margins[start + i]), low = u * SHRINK;
            double series = 1 + low * (1 + low * (0.5 + low * (1.0 / 6 + low * (1.0 / 24))));
            double rate = u < 4 * STEEPEST ? u * 0.25 : STEEPEST;
            double far = low > 1.5434 ? low / series : STEEPEST;
            rate = far < rate ? far : rate;
            rates[i] = rate * rate;
        }
        for (int64_t i = 0; i < length; i++) total += rates[i];
    }
    return total * (1 + 1e-6);
}

#endif

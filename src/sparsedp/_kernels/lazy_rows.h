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

/* Records of a sparse column: narrow where 16 bits hold the number of any record. */
typedef struct {
    const int32_t *wide;
    const uint16_t *narrow;
} rows_t;

static inline int64_t row_at(rows_t rows, int64_t p) {
    return rows.narrow ? rows.narrow[p] : rows.wide[p];
}

static inline rows_t rows_from(rows_t rows, int64_t start) {
    if (rows.narrow)
        rows.narrow += start;
    else
        rows.wide += start;
    return rows;
}

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

/* exp within a relative error of 2^-21 for |x| <= 80; beyond, that of the nearer end. */
static inline float exponential_single(float x) {
    x = x < -80.0f ? -80.0f : x;
    x = x > 80.0f ? 80.0f : x;
    float shifted = x * 1.44269504f + 0x1.8p23f;
    float whole = shifted - 0x1.8p23f;
    float rest = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;
    float p = 1.0f / 5040;
    p = p * rest + 1.0f / 720;
    p = p * rest + 1.0f / 120;
    p = p * rest + 1.0f / 24;
    p = p * rest + 1.0f / 6;
    p = p * rest + 0.5f;
    p = p * rest + 1.0f;
    p = p * rest + 1.0f;
    uint32_t bits, exponent;
    memcpy(&exponent, &shifted, 4);
    memcpy(&bits, &p, 4);
    bits += exponent << 23;
    memcpy(&p, &bits, 4);
    return p;
}

/* Derivatives are single-precision numbers within the bound, also rounded down to one: what they
   are is a matter of their record, how exact they are one of bounds on drift. */
#define DERIVATIVE_ERROR 0x1p-21

static inline float clipped(float r, float bound) {
    r = r > bound ? bound : r;
    return r < -bound ? -bound : r;
}

static inline float logistic(float margin, float target, float bound) {
    return clipped(1.0f / (1.0f + exponential_single(-margin)) - target, bound);
}

static inline float squared(double margin, double target, float bound) {
    double r = margin - target;
    r = r > bound ? bound : r;
    return clipped((float)(r < -bound ? -bound : r), bound);
}

/* Derivatives at margins scale * (v + shift), written to r. */
WIDE static void derivatives(int loss, const double *restrict v, const double *restrict target,
                             int64_t n, double scale, double shift, float bound,
                             float *restrict r) {
    if (loss == LOGISTIC)
        for (int64_t i = 0; i < n; i++)
            r[i] = logistic((float)(scale * (v[i] + shift)), (float)target[i], bound);
    else
        for (int64_t i = 0; i < n; i++) r[i] = squared(scale * (v[i] + shift), target[i], bound);
}

/* The same for the records in `rows`, at most CHUNK of them. */
static inline __attribute__((always_inline)) void derivatives_of(int loss, rows_t rows, int64_t size,
                                  const double *restrict v, const double *restrict target,
                                  double scale, double shift, float bound, float *restrict r) {
    if (loss == LOGISTIC) {
        float margin[CHUNK], label[CHUNK];
        for (int64_t p = 0; p < size; p++) {
            margin[p] = (float)(scale * (v[row_at(rows, p)] + shift));
            label[p] = (float)target[row_at(rows, p)];
        }
        for (int64_t p = 0; p < size; p++) r[p] = logistic(margin[p], label[p], bound);
    } else
        for (int64_t p = 0; p < size; p++)
            r[p] = squared(scale * (v[row_at(rows, p)] + shift), target[row_at(rows, p)], bound);
}

WIDE static void touched_derivatives(rows_t rows, int64_t size,
                                     const double *restrict v, const double *restrict target,
                                     double scale, double shift, float bound, float *restrict r) {
    derivatives_of(LOGISTIC, rows, size, v, target, scale, shift, bound, r);
}

/* One record's multinomial derivative; v and r have `stride` between classes. */
static inline void multinomial_row(const double *v, int64_t stride, const double *shift, int k,
                                   double scale, int label, float bound, float *r, int64_t out,
                                   double *e) {
    double top = -HUGE_VAL, total = 0, largest = 0;
    for (int c = 0; c < k; c++) top = most(top, scale * (v[c * stride] + shift[c]));
    for (int c = 0; c < k; c++) {
        e[c] = exponential(scale * (v[c * stride] + shift[c]) - top);
        total += e[c];
    }
    for (int c = 0; c < k; c++) {
        e[c] = e[c] / total - (c == label);
        largest = most(largest, fabs(e[c]));
    }
    double shrink = largest > bound ? bound / largest : 1.0;
    for (int c = 0; c < k; c++) r[c * out] = clipped((float)(e[c] * shrink), bound);
}

static inline double folded(const double *lanes) {
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
           ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

/* Sums over records. The terms of a block are added plainly, in a tree; blocks, lane by lane,
   together with what rounding took from them (Knuth); what is left over, plainly. The order depends
   on the number of terms and on nothing else. */
#define BLOCK (4 * LANES)

typedef struct {
    double high, low;
} pair_t;

typedef struct {
    double high[LANES], low[LANES];
} lanes_t;

static inline void add_with_rest(double *high, double *low, double term) {
    double old = *high, sum = old + term, part = sum - old;
    *low += (old - (sum - part)) + (term - part);
    *high = sum;
}

/* Add all whole blocks of the terms TERM(0), TERM(1), ...; the compiler makes vectors of scattered
   terms and of adjacent ones from different loops that say the same. */
#define ADD_BLOCKS(lanes, size, TERM)                                                 \
    for (int64_t p = 0; p + BLOCK <= (size); p += BLOCK) {                            \
        double block[LANES];                                                          \
        for (int l = 0; l < LANES; l++) block[l] = TERM(p + l);                       \
        for (int64_t q = p + LANES; q < p + BLOCK; q += LANES)                        \
            for (int l = 0; l < LANES; l++) block[l] += TERM(q + l);                  \
        for (int l = 0; l < LANES; l++)                                               \
            add_with_rest(&(lanes).high[l], &(lanes).low[l], block[l]);               \
    }
#define ADD_ADJACENT_BLOCKS(lanes, size, TERM)                                        \
    for (int64_t p = 0; p + BLOCK <= (size); p += BLOCK)                              \
        for (int l = 0; l < LANES; l++) {                                             \
            double block = TERM(p + l) + TERM(p + LANES + l);                         \
            block += TERM(p + 2 * LANES + l);                                         \
            block += TERM(p + 3 * LANES + l);                                         \
            add_with_rest(&(lanes).high[l], &(lanes).low[l], block);                  \
        }

/* Add what is left over after the blocks. */
#define ADD_OTHERS(others, size, TERM)                                                \
    do {                                                                              \
        int64_t p = (size) / BLOCK * BLOCK;                                           \
        for (; p + LANES <= (size); p += LANES)                                       \
            for (int l = 0; l < LANES; l++) (others)[l] += TERM(p + l);               \
        for (int l = 0; p < (size); p++, l++) (others)[l] += TERM(p);                 \
    } while (0)

#define SUM_UP(sum, size, TERM, BLOCKS)                                                 \
    do {                                                                              \
        double others[LANES] = {0};                                                   \
        if ((size) >= BLOCK) {                                                        \
            lanes_t lanes = {{0}, {0}};                                               \
            BLOCKS(lanes, size, TERM)                                                 \
            (sum) = merged(&lanes);                                                   \
        }                                                                             \
        ADD_OTHERS(others, size, TERM);                                               \
        add_with_rest(&(sum).high, &(sum).low, folded(others));                       \
    } while (0)

static inline pair_t merged(const lanes_t *lanes) {
    pair_t sum = {lanes->high[0], 0};
    for (int l = 1; l < LANES; l++) add_with_rest(&sum.high, &sum.low, lanes->high[l]);
    sum.low += folded(lanes->low);
    return sum;
}

/* sum - offset * total, rounded once. */
static inline double centered(pair_t sum, double offset, pair_t total) {
    double product = offset * total.high, rest = fma(offset, total.high, -product);
    add_with_rest(&sum.high, &sum.low, -product);
    return sum.high + (sum.low - (rest + offset * total.low));
}

/* Sum of x * r over the entries of a sparse column; x is NULL where all values are one. */
static inline __attribute__((always_inline)) pair_t sparse_sum_inline(rows_t rows,
                                                                      const float *restrict x,
                                                                      int64_t size,
                                                                      const float *restrict r) {
    pair_t sum = {0, 0};
#define ONE(p) ((double)r[rows.narrow[p]])
#define ENTRY(p) ((double)x[p] * r[rows.narrow[p]])
#define WIDE_ONE(p) ((double)r[rows.wide[p]])
#define WIDE_ENTRY(p) ((double)x[p] * r[rows.wide[p]])
    if (rows.narrow) {
        if (x == NULL)
            SUM_UP(sum, size, ONE, ADD_BLOCKS);
        else
            SUM_UP(sum, size, ENTRY, ADD_BLOCKS);
    } else if (x == NULL)
        SUM_UP(sum, size, WIDE_ONE, ADD_BLOCKS);
    else
        SUM_UP(sum, size, WIDE_ENTRY, ADD_BLOCKS);
#undef ONE
#undef ENTRY
#undef WIDE_ONE
#undef WIDE_ENTRY
    return sum;
}

WIDE static pair_t sparse_sum(rows_t rows, const float *restrict x, int64_t size,
                              const float *restrict r) {
    return sparse_sum_inline(rows, x, size, r);
}

/* The same sum for a dense column. */
WIDE static pair_t dense_sum(const float *restrict x, int64_t n, const float *restrict r) {
    pair_t sum = {0, 0};
#define ENTRY(p) ((double)x[p] * r[p])
    SUM_UP(sum, n, ENTRY, ADD_ADJACENT_BLOCKS);
#undef ENTRY
    return sum;
}

#define GIVEN(p) ((double)terms[p])

WIDE static pair_t total_of(const float *restrict terms, int64_t n) {
    pair_t sum = {0, 0};
    SUM_UP(sum, n, GIVEN, ADD_ADJACENT_BLOCKS);
    return sum;
}

/* The same sum as `sparse_sum`, derivatives computed where they are needed. */
WIDE static pair_t sparse_sum_on_the_fly(int loss, rows_t rows, const float *restrict x, int64_t size,
                                         const double *restrict v, const double *restrict target,
                                         double scale, double shift, float bound) {
    lanes_t lanes = {{0}, {0}};
    float r[CHUNK];
    double terms[CHUNK], others[LANES] = {0};
    for (int64_t start = 0; start < size; start += CHUNK) { /* a chunk is some blocks */
        int64_t length = size - start < CHUNK ? size - start : CHUNK;
        derivatives_of(loss, rows_from(rows, start), length, v, target, scale, shift, bound, r);
        for (int64_t p = 0; p < length; p++) terms[p] = x ? (double)x[start + p] * r[p] : r[p];
        ADD_ADJACENT_BLOCKS(lanes, length, GIVEN)
        ADD_OTHERS(others, length, GIVEN);
    }
    pair_t sum = merged(&lanes);
    add_with_rest(&sum.high, &sum.low, folded(others));
    return sum;
}

WIDE static double squared_distance(const float *restrict a, const float *restrict b, int64_t n) {
    double lanes[LANES] = {0};
    int64_t p = 0;
    for (; p + LANES <= n; p += LANES)
        for (int l = 0; l < LANES; l++) {
            double e = (double)a[p + l] - b[p + l];
            lanes[l] += e * e;
        }
    for (int l = 0; p < n; p++, l++) {
        double e = (double)a[p] - b[p];
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

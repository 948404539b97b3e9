/* Inner loops of the products with records.

   Every clone does the same IEEE operations in the same order for every record: no fast-math, no
   contraction. What a record adds depends on nothing but the record. */
#ifndef SPARSEDP_PRODUCTS_ROWS_H
#define SPARSEDP_PRODUCTS_ROWS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__)
#define WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WIDE
#endif

#define GROUP 8 /* dense records that may be added up before they meet the pair */
#define CHUNK 64 /* columns at a time, so that what is in use stays in the first cache */
#define TILE 8 /* coordinates at a time */

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

WIDE static void tidy_pairs(double *restrict high, double *restrict low, ptrdiff_t n) {
    for (ptrdiff_t j = 0; j < n; j++) tidy(high + j, low + j);
}

/* Four coordinates in one register; arrays of doubles would be kept in memory. */
typedef double four __attribute__((vector_size(32), aligned(8), may_alias));
#define FOUR(pointer) (*(const four *)(pointer))

static inline double across(four sum) { return (sum[0] + sum[1]) + (sum[2] + sum[3]); }

/* Squared norm of start + sum over j of x[j] * map[j] for every record, in the order of its entries;
   and sum over j of |x[j]| * lengths[j]. The rows of the map are whole tiles. */
#define CSR_MAPPED(NAME, INDEX)                                                                  \
    WIDE static void NAME(const INDEX *restrict indptr, const INDEX *restrict columns,           \
                          const double *restrict x, ptrdiff_t n, const double *restrict map,     \
                          const double *restrict start, const double *restrict lengths,          \
                          ptrdiff_t width, double *restrict squares, double *restrict sizes) {   \
        for (ptrdiff_t i = 0; i < n; i++) {                                                      \
            double size = 0;                                                                     \
            four square = {0};                                                                   \
            ptrdiff_t first = indptr[i], end = indptr[i + 1], q = 0;                             \
            for (ptrdiff_t p = first; p < end; p++) size += fabs(x[p]) * lengths[columns[p]];    \
            sizes[i] = size;                                                                     \
            for (; q + 4 * TILE <= width; q += 4 * TILE) {                                       \
                const double *s = start + q;                                                     \
                four a = FOUR(s), b = FOUR(s + 4), c = FOUR(s + 8), d = FOUR(s + 12);            \
                four e = FOUR(s + 16), f = FOUR(s + 20), g = FOUR(s + 24), h = FOUR(s + 28);     \
                for (ptrdiff_t p = first; p < end; p++) {                                        \
                    const double *row = map + (ptrdiff_t)columns[p] * width + q;                 \
                    double v = x[p];                                                             \
                    a += v * FOUR(row), b += v * FOUR(row + 4);                                  \
                    c += v * FOUR(row + 8), d += v * FOUR(row + 12);                             \
                    e += v * FOUR(row + 16), f += v * FOUR(row + 20);                            \
                    g += v * FOUR(row + 24), h += v * FOUR(row + 28);                            \
                }                                                                                \
                square += ((a * a + b * b) + (c * c + d * d)) +                                  \
                          ((e * e + f * f) + (g * g + h * h));                                   \
            }                                                                                    \
            for (; q < width; q += TILE) {                                                       \
                four a = FOUR(start + q), b = FOUR(start + q + 4);                               \
                for (ptrdiff_t p = first; p < end; p++) {                                        \
                    const double *row = map + (ptrdiff_t)columns[p] * width + q;                 \
                    a += x[p] * FOUR(row), b += x[p] * FOUR(row + 4);                            \
                }                                                                                \
                square += a * a + b * b;                                                         \
            }                                                                                    \
            squares[i] = across(square);                                                         \
        }                                                                                        \
    }

CSR_MAPPED(csr_mapped_32, int32_t)
CSR_MAPPED(csr_mapped_64, int64_t)

/* The same for four dense records, and for one. */
static inline void four_mapped(const double *restrict x, ptrdiff_t stride, ptrdiff_t d,
                               const double *restrict map, const double *restrict start,
                               ptrdiff_t width, double *restrict squares) {
    four square[4] = {{0}};
    for (ptrdiff_t q = 0; q < width; q += TILE) {
        four a = FOUR(start + q), c = a, e = a, g = a, b = FOUR(start + q + 4), f = b, h = b, i = b;
        for (ptrdiff_t j = 0; j < d; j++) {
            const double *row = map + j * width + q, *v = x + j;
            four left = FOUR(row), right = FOUR(row + 4);
            a += v[0] * left, b += v[0] * right;
            c += v[stride] * left, f += v[stride] * right;
            e += v[2 * stride] * left, h += v[2 * stride] * right;
            g += v[3 * stride] * left, i += v[3 * stride] * right;
        }
        square[0] += a * a + b * b, square[1] += c * c + f * f;
        square[2] += e * e + h * h, square[3] += g * g + i * i;
    }
    for (int k = 0; k < 4; k++) squares[k] = across(square[k]);
}

static inline void one_mapped(const double *restrict x, ptrdiff_t d, const double *restrict map,
                              const double *restrict start, ptrdiff_t width,
                              double *restrict squares) {
    four square = {0};
    for (ptrdiff_t q = 0; q < width; q += TILE) {
        four a = FOUR(start + q), b = FOUR(start + q + 4);
        for (ptrdiff_t j = 0; j < d; j++) {
            const double *row = map + j * width + q;
            a += x[j] * FOUR(row), b += x[j] * FOUR(row + 4);
        }
        square += a * a + b * b;
    }
    *squares = across(square);
}

WIDE static void dense_rows_mapped(const double *restrict x, ptrdiff_t stride, ptrdiff_t n,
                                   ptrdiff_t d, const double *restrict map,
                                   const double *restrict start, const double *restrict lengths,
                                   ptrdiff_t width, double *restrict squares,
                                   double *restrict sizes) {
    ptrdiff_t i = 0;
    for (; i + 4 <= n; i += 4)
        four_mapped(x + i * stride, stride, d, map, start, width, squares + i);
    for (; i < n; i++) one_mapped(x + i * stride, d, map, start, width, squares + i);
    for (i = 0; i < n; i++) {
        double lanes[8] = {0};
        const double *row = x + i * stride;
        ptrdiff_t j = 0;
        for (; j + 8 <= d; j += 8)
            for (int l = 0; l < 8; l++) lanes[l] += fabs(row[j + l]) * lengths[j + l];
        for (int l = 0; j < d; j++, l++) lanes[l] += fabs(row[j]) * lengths[j];
        sizes[i] = folded(lanes);
    }
}

#endif

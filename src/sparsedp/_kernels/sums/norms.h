/* Inner loops of the norms of records in other coordinates.

   What is computed for a record depends on nothing but the record. */
#ifndef SPARSEDP_NORMS_H
#define SPARSEDP_NORMS_H

#include "products_rows.h"

#define TILE 8 /* coordinates at a time */

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

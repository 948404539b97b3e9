/* Inner loops of the norms of records in other coordinates.

   What is computed for a record depends on nothing but the record. */
#ifndef SPARSEDP_NORMS_H
#define SPARSEDP_NORMS_H

#include "products_rows.h"

#define TILE 8 /* coordinates at a time */
#define ROWS 64 /* dense records at a time */

static inline double across(four sum) { return (LANE(sum, 0) + LANE(sum, 1)) + (LANE(sum, 2) + LANE(sum, 3)); }

/* Squared norm of start + sum over j of x[j] * map[j] for every record, in the order of its entries;
   and sum over j of |x[j]| * lengths[j]. The rows of the map are whole tiles; in each tile rows before
   its first one are zero, and are passed over. Some records at a time meet one strip of the map after
   the other, which stays in a cache. */
#define CSR_MAPPED(NAME, INDEX)                                                                  \
    WIDE static void NAME(const INDEX *restrict indptr, const INDEX *restrict columns,           \
                          const double *restrict x, ptrdiff_t n, const double *restrict map,     \
                          const ptrdiff_t *restrict firsts, const double *restrict start,        \
                          const double *restrict lengths, ptrdiff_t width,                       \
                          double *restrict squares, double *restrict sizes) {                    \
        for (ptrdiff_t begin = 0; begin < n; begin += ROWS) {                                    \
            ptrdiff_t some = n - begin < ROWS ? n - begin : ROWS, from[ROWS], q = 0;             \
            four square[ROWS] = {{0}};                                                           \
            for (ptrdiff_t i = 0; i < some; i++) {                                               \
                double size = 0;                                                                 \
                from[i] = indptr[begin + i];                                                     \
                for (ptrdiff_t p = from[i]; p < indptr[begin + i + 1]; p++)                      \
                    size += fabs(x[p]) * lengths[columns[p]];                                    \
                sizes[begin + i] = size;                                                         \
            }                                                                                    \
            for (; q + 4 * TILE <= width; q += 4 * TILE) {                                       \
                for (ptrdiff_t i = 0; i < some; i++) {                                           \
                    const double *s = start + q;                                                 \
                    four a = FOUR(s), b = FOUR(s + 4), c = FOUR(s + 8), d = FOUR(s + 12);        \
                    four e = FOUR(s + 16), f = FOUR(s + 20), g = FOUR(s + 24), h = FOUR(s + 28); \
                    ptrdiff_t first = from[i], end = indptr[begin + i + 1];                      \
                    while (first < end && columns[first] < firsts[q / TILE]) first++;            \
                    from[i] = first;                                                             \
                    for (ptrdiff_t p = first; p < end; p++) {                                    \
                        const double *row = map + (ptrdiff_t)columns[p] * width + q;             \
                        double v = x[p];                                                         \
                        ADD_SCALED(a, v, FOUR(row)), ADD_SCALED(b, v, FOUR(row + 4));            \
                        ADD_SCALED(c, v, FOUR(row + 8)), ADD_SCALED(d, v, FOUR(row + 12));       \
                        ADD_SCALED(e, v, FOUR(row + 16)), ADD_SCALED(f, v, FOUR(row + 20));      \
                        ADD_SCALED(g, v, FOUR(row + 24)), ADD_SCALED(h, v, FOUR(row + 28));      \
                    }                                                                            \
                    a = PLUS(SQUARES(a, b), SQUARES(c, d));                                      \
                    e = PLUS(SQUARES(e, f), SQUARES(g, h));                                      \
                    square[i] = PLUS(square[i], PLUS(a, e));                                     \
                }                                                                                \
            }                                                                                    \
            for (; q < width; q += TILE) {                                                       \
                for (ptrdiff_t i = 0; i < some; i++) {                                           \
                    four a = FOUR(start + q), b = FOUR(start + q + 4);                           \
                    ptrdiff_t first = from[i], end = indptr[begin + i + 1];                      \
                    while (first < end && columns[first] < firsts[q / TILE]) first++;            \
                    from[i] = first;                                                             \
                    for (ptrdiff_t p = first; p < end; p++) {                                    \
                        const double *row = map + (ptrdiff_t)columns[p] * width + q;             \
                        ADD_SCALED(a, x[p], FOUR(row)), ADD_SCALED(b, x[p], FOUR(row + 4));      \
                    }                                                                            \
                    square[i] = PLUS(square[i], SQUARES(a, b));                                  \
                }                                                                                \
            }                                                                                    \
            for (ptrdiff_t i = 0; i < some; i++) squares[begin + i] = across(square[i]);         \
        }                                                                                        \
    }

CSR_MAPPED(csr_mapped_32, int32_t)
CSR_MAPPED(csr_mapped_64, int64_t)

/* What one tile of the map, rows one after another, adds to the squares of four dense records, and of
   one. */
static inline void four_mapped(const double *restrict x, ptrdiff_t stride, ptrdiff_t first, ptrdiff_t d,
                               const double *restrict tile, const double *restrict start,
                               four *restrict square) {
    four a = FOUR(start), c = a, e = a, g = a, b = FOUR(start + 4), f = b, h = b, i = b;
    for (ptrdiff_t j = first; j < d; j++) {
        const double *row = tile + j * TILE, *v = x + j;
        four left = FOUR(row), right = FOUR(row + 4);
        ADD_SCALED(a, v[0], left), ADD_SCALED(b, v[0], right);
        ADD_SCALED(c, v[stride], left), ADD_SCALED(f, v[stride], right);
        ADD_SCALED(e, v[2 * stride], left), ADD_SCALED(h, v[2 * stride], right);
        ADD_SCALED(g, v[3 * stride], left), ADD_SCALED(i, v[3 * stride], right);
    }
    square[0] = PLUS(square[0], SQUARES(a, b)), square[1] = PLUS(square[1], SQUARES(c, f));
    square[2] = PLUS(square[2], SQUARES(e, h)), square[3] = PLUS(square[3], SQUARES(g, i));
}

static inline void one_mapped(const double *restrict x, ptrdiff_t first, ptrdiff_t d,
                              const double *restrict tile, const double *restrict start,
                              four *restrict square) {
    four a = FOUR(start), b = FOUR(start + 4);
    for (ptrdiff_t j = first; j < d; j++) {
        const double *row = tile + j * TILE;
        ADD_SCALED(a, x[j], FOUR(row)), ADD_SCALED(b, x[j], FOUR(row + 4));
    }
    *square = PLUS(*square, SQUARES(a, b));
}

/* Some records at a time meet one tile after the other: both stay in the caches. */
WIDE static void dense_rows_mapped(const double *restrict x, ptrdiff_t stride, ptrdiff_t n, ptrdiff_t d,
                                   const double *restrict tiles, const ptrdiff_t *restrict firsts,
                                   const double *restrict start, const double *restrict lengths,
                                   ptrdiff_t n_tiles, double *restrict squares,
                                   double *restrict sizes) {
    for (ptrdiff_t begin = 0; begin < n; begin += ROWS) {
        ptrdiff_t some = n - begin < ROWS ? n - begin : ROWS;
        const double *rows = x + begin * stride;
        four square[ROWS] = {{0}};
        for (ptrdiff_t q = 0; q < n_tiles; q++) {
            const double *tile = tiles + q * d * TILE, *s = start + q * TILE;
            ptrdiff_t i = 0;
            for (; i + 4 <= some; i += 4)
                four_mapped(rows + i * stride, stride, firsts[q], d, tile, s, square + i);
            for (; i < some; i++) one_mapped(rows + i * stride, firsts[q], d, tile, s, square + i);
        }
        for (ptrdiff_t i = 0; i < some; i++) {
            double lanes[8] = {0};
            const double *row = rows + i * stride;
            ptrdiff_t j = 0;
            for (; j + 8 <= d; j += 8)
                for (int l = 0; l < 8; l++) lanes[l] += fabs(row[j + l]) * lengths[j + l];
            for (int l = 0; j < d; j++, l++) lanes[l] += fabs(row[j]) * lengths[j];
            sizes[begin + i] = folded(lanes);
            squares[begin + i] = across(square[i]);
        }
    }
}

/* Move records by a center, and shorten those that are longer than a radius. Squares are taken a bit
   too long, as the growth and the least say. */
WIDE static void rows_into_ball(double *restrict x, ptrdiff_t stride, ptrdiff_t n, ptrdiff_t d,
                                const double *restrict center, double radius, double growth,
                                double least) {
    for (ptrdiff_t i = 0; i < n; i++) {
        double *row = x + i * stride, square = 0.0, length, factor;
        for (ptrdiff_t begin = 0; begin < d; begin += CHUNK) {
            ptrdiff_t width = d - begin < CHUNK ? d - begin : CHUNK;
            for (ptrdiff_t j = begin; j < begin + width; j++) row[j] -= center[j];
            square += dot(row + begin, row + begin, width);
        }
        length = sqrt(square * growth + least);
        if (length <= radius) continue;
        factor = radius / length;
        factor = factor == factor ? factor : 0.0; /* a record of unknown length has no say */
        for (ptrdiff_t j = 0; j < d; j++) row[j] *= factor;
    }
}

#endif

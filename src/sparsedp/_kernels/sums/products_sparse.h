/* Inner loops over records stored by rows.

   Every number is made of the same IEEE operations in the same order, however many are taken
   together. */
#ifndef SPARSEDP_PRODUCTS_SPARSE_H
#define SPARSEDP_PRODUCTS_SPARSE_H

#include "products_rows.h"

/* Add x * r to the plain sum of its column, for every entry of some records. */
#define CSR_ADDED(NAME, INDEX)                                                                   \
    WIDE static void NAME(const INDEX *restrict indptr, const INDEX *restrict columns,           \
                          const double *restrict x, const double *restrict r, ptrdiff_t begin,   \
                          ptrdiff_t stop, double *restrict sums) {                               \
        for (ptrdiff_t i = begin; i < stop; i++) {                                               \
            ptrdiff_t p = indptr[i], end = indptr[i + 1];                                        \
            double factor = r[i];                                                                \
            if (factor == 0.0) continue;                                                         \
            for (; p + 4 <= end; p += 4) {                                                       \
                four term = SCALED(factor, FOUR(x + p));                                         \
                for (int l = 0; l < 4; l++) sums[columns[p + l]] += LANE(term, l);               \
            }                                                                                    \
            for (; p < end; p++) sums[columns[p]] += x[p] * factor;                              \
        }                                                                                        \
    }

CSR_ADDED(csr_added_32, int32_t)
CSR_ADDED(csr_added_64, int64_t)

/* Records times weights of several outputs, which are zero but from their begins to their ends. Two
   entries with the same span of outputs, such as those of a feature that bends, are taken together. */
#define CSR_SPREAD(NAME, INDEX)                                                                  \
    WIDE static void NAME(const INDEX *restrict indptr, const INDEX *restrict columns,           \
                          const double *restrict x, ptrdiff_t n, const double *restrict weights, \
                          ptrdiff_t width, const ptrdiff_t *restrict begins,                     \
                          const ptrdiff_t *restrict ends, const double *restrict start,          \
                          double *restrict out) {                                                \
        for (ptrdiff_t i = 0; i < n; i++) {                                                      \
            double *o = out + i * width;                                                         \
            memcpy(o, start, width * sizeof *o);                                                 \
            for (ptrdiff_t p = indptr[i], end = indptr[i + 1]; p < end; p++) {                   \
                ptrdiff_t j = columns[p], k = begins[j], stop = ends[j];                         \
                const double *w = weights + j * width, *u = w;                                   \
                double v = x[p];                                                                 \
                if (p + 1 < end && begins[columns[p + 1]] == k && ends[columns[p + 1]] == stop) {\
                    p++;                                                                         \
                    u = weights + columns[p] * width;                                            \
                    for (; k + 4 <= stop; k += 4) {                                              \
                        four sum = PLUS(FOUR(o + k), SCALED(v, FOUR(w + k)));                    \
                        ADD_SCALED(sum, x[p], FOUR(u + k));                                      \
                        memcpy(o + k, &sum, sizeof sum);                                         \
                    }                                                                            \
                    for (; k < stop; k++) o[k] = (o[k] + v * w[k]) + x[p] * u[k];                \
                } else {                                                                         \
                    for (; k < stop; k++) o[k] += v * w[k];                                      \
                }                                                                                \
            }                                                                                    \
        }                                                                                        \
    }

CSR_SPREAD(csr_spread_32, int32_t)
CSR_SPREAD(csr_spread_64, int64_t)

#endif

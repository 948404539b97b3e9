/* Inner loops over columns a * b - level, a and b columns of records: nobody writes them down.

   What is computed for a record depends on nothing but the record; records only stand side by side in
   registers. Every function makes a column of the same two IEEE operations, so that margins, sums and
   norms see the same number. */
#ifndef SPARSEDP_CROSSED_H
#define SPARSEDP_CROSSED_H

#include "sums/products_rows.h"

#define STRIP 64 /* records at a time, whose columns stay in the first cache */
#define LANES 8  /* sums that are kept apart where one would have to wait for its last addition */
#define PLAIN (STRIP / LANES) /* records of a lane in a strip */
#define TIDY 1024 /* strips after which they are tidied up: fewer additions than 2^16 for each */

#define COLUMN(a, b, level) MINUS(TIMES(FOUR(a), FOUR(b)), level)

/* Two columns of every pair, from some record on, and its level four times. */
typedef struct {
    const double *a, *b;
    four level;
} two;

static inline two pair_of(const double *parts, ptrdiff_t stride, const ptrdiff_t *places, const double *levels,
                          ptrdiff_t begin) {
    double level[4] = {*levels, *levels, *levels, *levels};
    two found = {parts + places[0] * stride + begin, parts + places[1] * stride + begin, FOUR(level)};
    return found;
}

/* Add weights times columns to the margins of every record, pair by pair. */
WIDE static void crossed_margins(const double *restrict parts, ptrdiff_t stride, ptrdiff_t n,
                                 const ptrdiff_t *restrict places, const double *restrict levels,
                                 ptrdiff_t count, const double *restrict weights, ptrdiff_t width,
                                 double *restrict out) {
    for (ptrdiff_t begin = 0; begin < n; begin += STRIP) {
        ptrdiff_t some = n - begin < STRIP ? n - begin : STRIP;
        for (ptrdiff_t p = 0; p < count; p++) {
            const double *a = parts + places[2 * p] * stride + begin;
            const double *b = parts + places[2 * p + 1] * stride + begin, *w = weights + p * width;
            double level = levels[p], *o = out + begin * width;
            if (width == 1) {
                double factor = *w;
                for (ptrdiff_t i = 0; i < some; i++) o[i] += factor * (a[i] * b[i] - level);
            } else {
                for (ptrdiff_t i = 0; i < some; i++)
                    for (ptrdiff_t k = 0; k < width; k++)
                        o[i * width + k] += w[k] * (a[i] * b[i] - level);
            }
        }
    }
}

/* Add columns times residuals of one output, which stand side by side, to pairs of every lane. Of a lane
   in a strip eight records are added up plainly before they meet the pair, if that is allowed. */
WIDE static void crossed_sums(const double *restrict parts, ptrdiff_t stride, ptrdiff_t n,
                              const ptrdiff_t *restrict places, const double *restrict levels,
                              ptrdiff_t count, const double *restrict r, int plainly,
                              double *restrict high, double *restrict low) {
    const double zeros[4] = {0};
    for (ptrdiff_t begin = 0, strip = 1; begin < n; begin += STRIP, strip++) {
        ptrdiff_t some = n - begin < STRIP ? n - begin : STRIP;
        const double *q = r + begin;
        for (ptrdiff_t p = 0; p < count; p++) {
            two pair = pair_of(parts, stride, places + 2 * p, levels + p, begin);
            double *h = high + p * LANES, *l = low + p * LANES;
            four s = FOUR(h), t = FOUR(h + 4), d = FOUR(l), e = FOUR(l + 4);
            four u = FOUR(zeros), v = u;
            ptrdiff_t i = 0;
            for (; i + LANES <= some; i += LANES) {
                four left = TIMES(COLUMN(pair.a + i, pair.b + i, pair.level), FOUR(q + i));
                four right = TIMES(COLUMN(pair.a + i + 4, pair.b + i + 4, pair.level), FOUR(q + i + 4));
                if (plainly) {
                    u = PLUS(u, left), v = PLUS(v, right);
                } else {
                    ADD_FOUR(s, d, left);
                    ADD_FOUR(t, e, right);
                }
            }
            if (plainly) {
                ADD_FOUR(s, d, u);
                ADD_FOUR(t, e, v);
            }
            memcpy(h, &s, sizeof s), memcpy(h + 4, &t, sizeof t);
            memcpy(l, &d, sizeof d), memcpy(l + 4, &e, sizeof e);
            for (ptrdiff_t k = 0; i < some; i++, k++)
                add(h + k, l + k, (pair.a[i] * pair.b[i] - levels[p]) * q[i]);
        }
        if (strip % TIDY == 0) tidy_pairs(high, low, count * LANES);
    }
    tidy_pairs(high, low, count * LANES);
}

/* Squared norm of a record's columns times a matrix, whose column q is zero above row firsts[q], and the
   sum of |column| times lengths. */
WIDE static void crossed_squares(const double *restrict parts, ptrdiff_t stride, ptrdiff_t n,
                                 const ptrdiff_t *restrict places, const double *restrict levels,
                                 ptrdiff_t count, const double *restrict matrix,
                                 const ptrdiff_t *restrict firsts, const double *restrict lengths,
                                 ptrdiff_t width, double *restrict strip, double *restrict squares,
                                 double *restrict sizes) {
    const double zeros[4] = {0};
    for (ptrdiff_t begin = 0; begin < n; begin += STRIP) {
        ptrdiff_t some = n - begin < STRIP ? n - begin : STRIP;
        double found[STRIP], size[STRIP] = {0};
        for (ptrdiff_t p = 0; p < count; p++) {
            const double *a = parts + places[2 * p] * stride + begin;
            const double *b = parts + places[2 * p + 1] * stride + begin;
            double level = levels[p], length = lengths[p], *z = strip + p * STRIP;
            for (ptrdiff_t i = 0; i < some; i++) {
                z[i] = a[i] * b[i] - level;
                size[i] += fabs(z[i]) * length;
            }
        }
        for (ptrdiff_t i = 0; i < STRIP; i += 16) {
            const double *z = strip + i;
            four none = FOUR(zeros), s = none, t = none, u = none, v = none;
            for (ptrdiff_t q = 0; q < width; q++) {
                four e = none, f = none, g = none, h = none;
                for (ptrdiff_t p = firsts[q]; p < count; p++) {
                    double m = matrix[p * width + q];
                    const double *y = z + p * STRIP;
                    ADD_SCALED(e, m, FOUR(y)), ADD_SCALED(f, m, FOUR(y + 4));
                    ADD_SCALED(g, m, FOUR(y + 8)), ADD_SCALED(h, m, FOUR(y + 12));
                }
                s = PLUS(s, TIMES(e, e)), t = PLUS(t, TIMES(f, f));
                u = PLUS(u, TIMES(g, g)), v = PLUS(v, TIMES(h, h));
            }
            memcpy(found + i, &s, sizeof s), memcpy(found + i + 4, &t, sizeof t);
            memcpy(found + i + 8, &u, sizeof u), memcpy(found + i + 12, &v, sizeof v);
        }
        memcpy(squares + begin, found, some * sizeof *found);
        memcpy(sizes + begin, size, some * sizeof *size);
    }
}

#endif

/* All scores at once: what every step does in mode "full". Most columns of wide data are short, so
   what there is to do for each is done in one loop. */
#ifndef SPARSEDP_LAZY_FULL_H
#define SPARSEDP_LAZY_FULL_H

#include "lazy_state.h"

/* The sum of a column with fewer entries than lanes, added up as `sparse_sum` does. */
static inline __attribute__((always_inline)) double short_sum(rows_t rows, const float *restrict x,
                                                              int64_t size,
                                                              const float *restrict r) {
    double terms[LANES] = {0};
    for (int64_t p = 0; p < size; p++) terms[p] += (x ? (double)x[p] : 1.0) * r[row_at(rows, p)];
    return folded(terms);
}

/* Sums over all sparse columns, `stride` apart. */
WIDE static void sparse_sums(const int64_t *restrict indptr, rows_t all, const float *restrict values,
                             const double *restrict offsets, pair_t total, int64_t n_features,
                             const float *restrict r, int64_t stride, double *restrict sums) {
    for (int64_t k = 0; k < n_features; k++) {
        int64_t start = indptr[k], size = indptr[k + 1] - start;
        rows_t rows = rows_from(all, start);
        const float *x = values ? values + start : NULL;
        if (size < LANES && !offsets)
            sums[k * stride] = short_sum(rows, x, size, r);
        else {
            pair_t sum = sparse_sum_inline(rows, x, size, r);
            sums[k * stride] = offsets ? centered(sum, offsets[k], total) : sum.high + sum.low;
        }
    }
}

/* Sums of derivatives times entries for all columns and outputs. */
static void find_all_sums(walk_t *s, double *sums) {
    int64_t k = s->n_outputs, first = 0;
    freshen(s);
    if (!s->dense) {
        for (int c = 0; c < k; c++)
            sparse_sums(s->indptr, s->rows, s->values, s->offsets, s->totals[c], s->n_features,
                        s->r + c * s->n, k, sums + c);
        s->counters[EVALUATIONS] += s->n_features * k;
        s->counters[ENTRIES] += s->indptr[s->n_features] * k;
        first = s->n_features;
    }
    for (int64_t column = first; column < s->n_columns; column++)
        for (int c = 0; c < k; c++) sums[column * k + c] = column_sum(s, column, c);
}

static void find_all_scores(walk_t *s) {
    if (s->t) find_all_sums(s, s->units);
    const double *sums = s->t ? s->units : s->start;
    for (int64_t e = 0; e < s->n_entries; e++) s->units[e] = rint(-sums[e] * (1.0 / s->grid));
    s->light_groups = 0;
    s->first = 0;
    s->anchor_exact = 1;
}

#endif

/* The records by column, columns in the order of their L1 norms; shared by all walks on them. */
#ifndef SPARSEDP_WALK_RECORDS_H
#define SPARSEDP_WALK_RECORDS_H

#include "units.h"

typedef struct {
    int64_t n, d;
    const int64_t *indptr, *n_full; /* how many columns before one are stored in full */
    const uint16_t *narrow; /* numbers of records in 16 bits, or */
    const int32_t *wide;    /* in 32 */
    const int16_t *x;       /* stored entries, within ONE */
    const int16_t *base;    /* what entries that are not stored are, by column */
    const float *target;
    const int32_t *weight; /* of records in units of 2^-30, at most 1; or NULL if all are 1 */
} records_t;

static inline int64_t row_at(const records_t *m, int64_t p) { return m->narrow ? m->narrow[p] : m->wide[p]; }

static inline int64_t column_size(const records_t *m, int64_t k) { return m->indptr[k + 1] - m->indptr[k]; }

/* A column that stores all its entries has them in the order of the records: no numbers are needed. */
static inline int full(const records_t *m, int64_t k) { return column_size(m, k) == m->n; }

/* Sums of entries times residuals: products of at most 2^28. Plain loops are the fastest. */
#define SPARSE_SUM(NAME, INDEX)                                                                    \
    static int64_t NAME(const INDEX *restrict rows, const int16_t *restrict x, int64_t size,       \
                        const int16_t *restrict r) {                                               \
        int64_t sum = 0;                                                                           \
        for (int64_t p = 0; p < size; p++) sum += x[p] * r[rows[p]];                               \
        return sum;                                                                                \
    }
SPARSE_SUM(sum_narrow, uint16_t)
SPARSE_SUM(sum_wide, int32_t)

/* The score of column k from the residuals of one output and their sum. */
static int64_t score_of(const records_t *m, int64_t k, const int16_t *r, int64_t sum_r) {
    int64_t p = m->indptr[k], size = column_size(m, k), base = m->base[k], sum = base * sum_r;
    if (full(m, k)) return -sum_products(m->x + p, r, m->n);
    sum += m->narrow ? sum_narrow(m->narrow + p, m->x + p, size, r) : sum_wide(m->wide + p, m->x + p, size, r);
    for (int64_t q = p; base && q < p + size; q++) sum -= base * r[row_at(m, q)];
    return -sum;
}

#define CHUNK 256
/* The score of a column without a base, residuals computed where they are needed; one output. */
WIDE static int64_t score_on_the_fly(const records_t *m, int64_t k, int loss, const double *restrict v,
                                     double scale, float unit) {
    int64_t sum = 0;
    double margin[CHUNK];
    float target[CHUNK];
    int16_t r[CHUNK];
    for (int64_t p = m->indptr[k]; p < m->indptr[k + 1]; p += CHUNK) {
        int64_t size = m->indptr[k + 1] - p < CHUNK ? m->indptr[k + 1] - p : CHUNK;
        for (int64_t q = 0; q < size; q++) {
            int64_t i = row_at(m, p + q);
            margin[q] = scale * v[i], target[q] = m->target[i];
        }
        if (loss == LOGISTIC)
            for (int64_t q = 0; q < size; q++) r[q] = logistic(margin[q], target[q], unit);
        else
            for (int64_t q = 0; q < size; q++) r[q] = squared(margin[q], target[q], unit);
        for (int64_t q = 0; m->weight && q < size; q++) r[q] = weighed(r[q], m->weight[row_at(m, p + q)]);
        for (int64_t q = 0; q < size; q++) sum += m->x[p + q] * r[q];
    }
    return -sum;
}

/* Move v toward a column: v += jump * x, one product and one sum per record. How a column is stored
   depends on all records, and must not be seen in the margin of any. */
WIDE static void add_column(const records_t *m, int64_t k, double jump, double *restrict v) {
    int64_t p = m->indptr[k], end = m->indptr[k + 1], base = m->base[k];
    if (full(m, k)) {
        const int16_t *restrict x = m->x + p;
        for (int64_t i = 0; i < m->n; i++) v[i] += jump * x[i];
        return;
    }
    if (!base) {
        for (; p < end; p++) v[row_at(m, p)] += jump * m->x[p];
        return;
    }
    for (int64_t i = 0; i < m->n; i++) /* stored entries are in the order of records */
        v[i] += jump * (double)(p < end && row_at(m, p) == i ? m->x[p++] : base);
}

#endif

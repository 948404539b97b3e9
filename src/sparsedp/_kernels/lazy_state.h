/* State of a lazy walk: margins with one common scale, and rigorous bounds on how far derivatives
   have drifted since the scores of the heavy columns were computed. See mechanisms/lazy.md. */
#ifndef SPARSEDP_LAZY_STATE_H
#define SPARSEDP_LAZY_STATE_H

#include "lazy_rows.h"
#include <stdlib.h>

#define GROUPS 240     /* of columns by what their scores are at most, at most so many */
#define LIGHT_GROUPS 8 /* each with half the cap of the next: always light */
#define SHORT 16 /* times as many records as entries: a column that costs far less than a pass */
#define LONG 200.0 /* entries of a column that cost as much as all else of a proposal, and more */

#define MOST_OUTPUTS 1024
#define SCANNED 32 /* explicit entries with one sum, to find a point among them */

/* Time of the parts in nanoseconds: they decide what is done when, never what comes out. */
#define TIME_ROW 1.6
#define TIME_REMEMBER 3.4
#define TIME_ENTRY 1.2
#define TIME_DENSE 0.5
#define TIME_COARSE 0.12
#define TIME_FLY 3.4
#define TIME_HEAVY 60.0
#define TIME_BUILD 16.0
#define TIME_POINT 70.0
#define TIME_EXPLICIT 15.0
#define TIME_SCAN 0.5

enum { REFRESHES, PASSES, POINTS, EVALUATIONS, ENTRIES, SQUEEZED, EXPLICIT, RESOLVED, EAGER, LIGHT,
       COARSE, COUNTERS };

typedef struct {
    /* The records, prepared once, columns by L1 norm so that those computed anew lie together; a
       column beyond the features is the constant one. */
    int64_t n, n_features, n_columns;
    int n_outputs, loss;
    const int64_t *indptr;
    rows_t rows;
    const float *values; /* NULL: all are one */
    const float *dense;  /* instead of the three above: one column after the other */
    const double *offsets; /* subtracted from every entry of a column; or NULL */
    const double *target;
    const float *sums, *norms; /* of the columns: L1 and L2 norm, rounded up */
    const int32_t *order;      /* which feature each column is: numbers that are released */
    const double *start;       /* sums of derivatives times entries at weights zero */
    const int8_t *coarse;      /* dense columns in bytes, in multiples of a step; or NULL */
    const float *coarse_steps, *coarse_rests; /* the latter an L2 norm, rounded up */

    /* What is asked for. */
    int64_t n_steps;
    const double *steps;
    double bound, radius, grid, rate;
    int laplace, eager_only, never_eager, coarse_looks, coarse_anchors;
    double light_cap, first_drift, margin, patience, idle; /* speed, and paths for tests to force */
    int64_t *chosen;

    /* Random words, and exact arithmetic for what floating point cannot decide. */
    const uint64_t *words;
    int64_t position, available;
    int (*refill)(void *);
    int (*resolve)(void *, uint64_t, int64_t, int, uint64_t);
    void *context;
    int failed;

    /* Margins of class c are scale * (v[c * n + i] + shift[c]). */
    double *v, scale, *shift;
    float *r; /* derivatives at the current margins, where fresh */
    float clip; /* the bound, rounded down */
    pair_t *totals; /* their sums, where columns need them */
    int fresh, totaled;

    /* Changes of derivatives since weights zero, see lazy_coarse.h. */
    float *base_r;
    int16_t *changes;
    double *change_unit, *change_norm, *change_rest;
    int coarse_fresh;

    /* Drift. Reference margins with three products, see `drift`. */
    int passes_always, tracking;
    float *anchor_r, *pass_r;
    double *reference, *reference_sums, *moved_sums, *touched;
    int32_t *touch_epoch, epoch;
    double moved_square, moved_product, reference_square;
    double magnitude, product_magnitude, operations, sum_operations; /* for bounds on rounding */
    double offset, touched_square, touched_peak, touched_operations;
    double shrinking, reference_scale, lipschitz, path;
    int shift_moved;

    /* Heavy columns; an entry is a column with an output. Those before `first` are light for the
       time being: their scores are bounded so low that they hardly matter. */
    int64_t n_light, group_start[GROUPS + 1], n_heavy, n_entries, first;
    int n_groups, light_groups; /* in all, and light at present */
    double group_cap[GROUPS];
    double *units, *reach, *span, *slack, *tolerance, *work, *grown;
    double *seen_units, *seen_path, *seen_tolerance;
    int64_t *seen; /* the moment, and one more where the score was computed exactly */
    double steepness, slack_rate;
    int anchor_exact;

    /* Envelope: integer weights on the scale 2^octaves * exp(-level), level = rate * top_units. */
    double level, top_units, allowed, planned;
    int octaves;
    uint64_t light_weight[GROUPS], light_total[GROUPS], light_sum, *cumulative, *positive, total;
    int64_t *in_table, n_table, *explicit_entry, n_explicit;
    double *explicit_low, *explicit_high;
    uint64_t *explicit_positive, *explicit_negative, *explicit_block; /* and sums over blocks */

    int64_t t, anchor_step, eager_until;
    int failures;
    double drifted, spent, spent_step, step_start, recent, refresh_time, ratio;
    int64_t counters[COUNTERS];
} walk_t;

static inline int64_t column_size(const walk_t *s, int64_t k) {
    if (k >= s->n_features || s->dense) return s->n;
    return s->indptr[k + 1] - s->indptr[k];
}

/* Compute all derivatives at the current margins. */
static void freshen(walk_t *s) {
    if (s->fresh) return;
    int64_t n = s->n;
    int k = s->n_outputs;
    if (s->loss != MULTINOMIAL)
        derivatives(s->loss, s->v, s->target, n, s->scale, s->shift[0], s->clip, s->r);
    else {
        double work[MOST_OUTPUTS];
        for (int64_t i = 0; i < n; i++)
            multinomial_row(s->v + i, n, s->shift, k, s->scale, (int)s->target[i], s->clip,
                            s->r + i, n, work);
    }
    if (s->totaled)
        for (int c = 0; c < k; c++) s->totals[c] = total_of(s->r + c * n, n);
    s->fresh = 1;
    s->counters[PASSES]++;
    s->spent += TIME_ROW * n * k;
}

static pair_t multinomial_sum_on_the_fly(const walk_t *s, rows_t rows, const float *x,
                                         int64_t size, int c) {
    lanes_t lanes = {{0}, {0}};
    double terms[CHUNK], others[LANES] = {0}, work[MOST_OUTPUTS];
    float row[MOST_OUTPUTS];
    for (int64_t start = 0; start < size; start += CHUNK) {
        int64_t length = size - start < CHUNK ? size - start : CHUNK;
        for (int64_t p = 0; p < length; p++) {
            int64_t i = row_at(rows, start + p);
            multinomial_row(s->v + i, s->n, s->shift, s->n_outputs, s->scale, (int)s->target[i],
                            s->clip, row, 1, work);
            terms[p] = x == NULL ? row[c] : (double)x[start + p] * row[c];
        }
        ADD_ADJACENT_BLOCKS(lanes, length, GIVEN)
        ADD_OTHERS(others, length, GIVEN);
    }
    pair_t sum = merged(&lanes);
    add_with_rest(&sum.high, &sum.low, folded(others));
    return sum;
}

/* Sum of derivatives times entries of a column: minus its score, before rounding to the grid. */
static double column_sum(walk_t *s, int64_t k, int c) {
    int64_t n = s->n, size = column_size(s, k);
    s->counters[EVALUATIONS]++;
    s->counters[ENTRIES] += size;
    int wide = k >= s->n_features || s->dense || s->offsets;
    if (wide || s->spent_step + TIME_FLY * size > TIME_ROW * n) freshen(s);
    const float *r = s->r + c * n;
    pair_t sum;
    if (k >= s->n_features) {
        sum = s->totals[c];
    } else if (s->dense) {
        s->spent += TIME_DENSE * size;
        sum = dense_sum(s->dense + k * n, n, r);
    } else {
        rows_t rows = rows_from(s->rows, s->indptr[k]);
        const float *x = s->values ? s->values + s->indptr[k] : NULL;
        if (s->fresh) {
            s->spent += TIME_ENTRY * size;
            sum = sparse_sum(rows, x, size, r);
            if (s->offsets) return centered(sum, s->offsets[k], s->totals[c]);
        } else {
            double time = TIME_FLY * size * s->n_outputs;
            s->spent += time;
            s->spent_step += time; /* once as much as a pass was spent on columns, make the pass */
            if (s->loss == MULTINOMIAL)
                sum = multinomial_sum_on_the_fly(s, rows, x, size, c);
            else
                sum = sparse_sum_on_the_fly(s->loss, rows, x, size, s->v, s->target, s->scale,
                                            s->shift[0], s->clip);
        }
    }
    return sum.high + sum.low;
}

/* The score in grid units, a whole number. */
static inline double score_units(walk_t *s, int64_t k, int c) {
    return rint(-column_sum(s, k, c) * (1.0 / s->grid));
}

/* Remember margins and derivatives of this moment, to measure drift from. */
static void remember(walk_t *s) {
    int64_t n = s->n, all = n * s->n_outputs;
    memcpy(s->pass_r, s->r, sizeof(float) * (size_t)all);
    if (s->passes_always) return;
    s->reference_square = 0;
    for (int c = 0; c < s->n_outputs; c++) {
        margins_of(s->v + c * n, n, s->scale, s->shift[c], s->reference + c * n,
                   &s->reference_square, &s->reference_sums[c]);
        s->moved_sums[c] = s->reference_sums[c] / s->scale;
    }
    s->moved_product = s->reference_square / s->scale;
    s->moved_square = s->moved_product / s->scale;
    s->magnitude = 2 * s->moved_square;
    s->product_magnitude = 2 * s->moved_product;
    s->operations = s->sum_operations = 4.0 * (double)all + 64;
    s->touched_square = s->touched_peak = s->touched_operations = 0;
    s->shift_moved = 0;
    s->epoch++;
    s->reference_scale = s->scale;
    if (s->loss == LOGISTIC) s->shrinking = shrink_rate(s->reference, n);
    s->spent += TIME_REMEMBER * (double)all;
}

/* A bound on the L2 norm of (current derivatives - those at the anchor), over all classes. */
static double drift(walk_t *s) {
    int64_t all = s->n * s->n_outputs;
    if (s->passes_always)
        return sqrt(squared_distance(s->r, s->anchor_r, all)) * (1 + 1e-8);
    double a = s->scale;
    double rounding = a * a * s->magnitude + 2 * a * s->product_magnitude + s->reference_square;
    rounding *= s->operations * 0x1p-51;
    double square = a * a * s->moved_square - 2 * a * s->moved_product + s->reference_square;
    double bound = s->lipschitz * sqrt(most(square, 0) + rounding);
    if (s->loss == LOGISTIC && !s->shift_moved && a >= SHRINK * s->reference_scale) {
        /* What touched rows had moved when last touched, and what shrinking did to all rows. */
        double touched = most(s->touched_square, 0) * (1 + 1e-6);
        touched += s->touched_operations * 0x1p-51 * s->touched_peak;
        double other = sqrt(touched) + sqrt(s->shrinking) * log(s->reference_scale / a) * (1 + 1e-9);
        bound = least(bound, other);
    }
    return s->offset + bound * (1 + 1e-9);
}

/* Move toward a vertex: margins exactly, all bounds with them. */
static void advance(walk_t *s, int64_t k, int c, double sign, double step) {
    int64_t n = s->n, size = column_size(s, k);
    double *v = s->v + c * n;
    int bounded = s->tracking && !s->passes_always;
    if (bounded) {
        double norm = s->scale * sqrt(most(s->moved_square, 0) +
                                      s->operations * 0x1p-51 * s->magnitude);
        double shrunk = s->lipschitz * step * norm;
        if (s->loss == LOGISTIC) shrunk = least(shrunk, -STEEPEST * log1p(-step) * sqrt((double)n));
        s->path += (shrunk + s->lipschitz * step * s->radius * s->norms[k]) * (1 + 1e-9);
    }
    s->scale *= 1 - step;
    double jump = sign * step * s->radius / s->scale;
    double common = k >= s->n_features ? jump : s->offsets ? -jump * s->offsets[k] : 0;
    if (k < s->n_features && s->dense) {
        const float *x = s->dense + k * n;
        for (int64_t i = 0; i < n; i++) v[i] += jump * x[i];
    } else if (k < s->n_features) {
        rows_t rows = rows_from(s->rows, s->indptr[k]);
        const float *x = s->values ? s->values + s->indptr[k] : NULL;
        if (!bounded) {
            for (int64_t p = 0; p < size; p++) v[row_at(rows, p)] += x ? jump * x[p] : jump;
        } else {
            double *reference = s->reference + c * n, square = 0, product = 0, sum = 0;
            double large = 0, products = 0;
            for (int64_t p = 0; p < size; p++) {
                int64_t i = row_at(rows, p);
                double change = x ? jump * x[p] : jump, old = v[i] + s->shift[c];
                double both = change * (2 * old + change);
                square += both;
                large += fabs(both) + old * old;
                product += change * reference[i];
                products += fabs(change * reference[i]);
                sum += change;
                v[i] += change;
            }
            s->moved_square += square;
            s->moved_product += product;
            s->moved_sums[c] += sum;
            s->magnitude += large;
            s->product_magnitude += products;
            s->operations += 4.0 * (double)size;
            s->sum_operations += (double)size;
        }
    }
    if (common != 0) {
        if (bounded) {
            double both = common * (2 * s->moved_sums[c] + (double)n * common);
            s->moved_square += both;
            s->moved_product += common * s->reference_sums[c];
            s->moved_sums[c] += (double)n * common;
            /* Errors of the sums enter, times `common`; by the inequality of Cauchy and Schwarz
               2 * common * sum of absolute values is at most n * common^2 + sum of squares. */
            s->magnitude += 2 * (double)n * common * common;
            s->product_magnitude += fabs(common) * sqrt((double)n * s->reference_square);
            s->operations += s->sum_operations + 4.0 * (double)n;
            s->shift_moved = 1;
        }
        s->shift[c] += common;
    }
    s->fresh = s->coarse_fresh = 0;
    s->spent += TIME_ENTRY * 2 * size;
    if (s->loss == LOGISTIC && bounded && !s->shift_moved && k < s->n_features &&
        s->scale >= SHRINK * s->reference_scale) {
        rows_t rows = rows_from(s->rows, s->indptr[k]);
        double before = s->touched_square;
        float r[CHUNK];
        for (int64_t start = 0; start < size; start += CHUNK) {
            int64_t length = size - start < CHUNK ? size - start : CHUNK;
            touched_derivatives(rows_from(rows, start), length, v, s->target, s->scale, s->shift[0],
                                s->clip, r);
            for (int64_t p = 0; p < length; p++) {
                int64_t i = row_at(rows, start + p);
                double e = fabs((double)r[p] - s->pass_r[i]) + 2 * DERIVATIVE_ERROR;
                e *= e;
                if (s->touch_epoch[i] != s->epoch) {
                    s->touch_epoch[i] = s->epoch;
                    s->touched_square += e;
                    s->shrinking += STEEPEST * STEEPEST;
                } else
                    s->touched_square += e - s->touched[i];
                s->touched[i] = e;
            }
        }
        /* No partial sum was larger than both ends together. */
        s->touched_peak = most(s->touched_peak, before + s->touched_square);
        s->touched_operations += 2.0 * (double)size;
        s->spent += TIME_FLY * size;
    }
    if (s->tracking && s->passes_always) {
        freshen(s);
        s->path += sqrt(squared_distance(s->r, s->pass_r, n * s->n_outputs)) * (1 + 1e-8);
        memcpy(s->pass_r, s->r, sizeof(float) * (size_t)(n * s->n_outputs));
    }
}

#endif

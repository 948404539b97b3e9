/* The point of the walk, and how far residuals have moved.

   At a pass all residuals are computed, and distances are exact sums. Between passes
   |r - r_pass| <= ahead: Lipschitz constant times the length of the path, plus rounding. */
#ifndef SPARSEDP_WALK_CLOCKS_H
#define SPARSEDP_WALK_CLOCKS_H

#include "state.h"

static inline double ahead(const walk_t *s) {
    return s->since > 0 ? least(s->since + s->rounding, s->farthest) : 0;
}

/* |a - b|, rounded up, from the squares of both: whole numbers below 2^60. */
static inline double distance(const int16_t *a, int64_t squares_a, const int16_t *b, int64_t squares_b, int64_t n) {
    return sqrt((double)(squares_a + squares_b - 2 * sum_products(a, b, n))) * (1 + 1e-12);
}

/* The residuals of the current point. */
static void fresh_residuals(const walk_t *s, int16_t *r) {
    const records_t *m = s->m;
    residuals(s->loss, s->v, s->scale, m->target, m->weight, s->unit, m->n, s->n_outputs, r);
}

static void settle_residuals(walk_t *s) { /* what follows from r */
    int64_t n = s->m->n;
    for (int c = 0; c < s->n_outputs; c++) s->sum_r[c] = sum_of(s->r + c * n, n);
    s->since = 0, s->fresh = 1;
}

/* Compute all residuals. */
static void pass(walk_t *s) {
    if (s->fresh) return;
    int64_t size = s->m->n * s->n_outputs;
    fresh_residuals(s, s->spare);
    int64_t squares = sum_products(s->spare, s->spare, size);
    s->moved += distance(s->spare, squares, s->r, s->squares, size);
    s->away = distance(s->spare, squares, s->origin, s->squares_origin, size);
    int16_t *old = s->r;
    s->r = s->spare, s->spare = old, s->squares = squares;
    s->length = s->scale * sqrt(squared_norm(s->v, size)) * (1 + 1e-7);
    settle_residuals(s);
    s->counters[PASSES]++;
    spend(s, TIME_ROW * (double)size, 0);
}

/* Go a part of the way to a vertex. */
static void advance(walk_t *s, int64_t e, double sign, double step) {
    int64_t n = s->m->n;
    double reach = s->radius * s->l2[e] / ONE, part = step + 0x1p-40; /* rounding of the margins */
    s->since += s->lipschitz * part * (reach + s->length) * (1 + 1e-9);
    s->length = ((1 - step) * s->length + step * reach) * (1 + 1e-9);
    s->scale *= 1 - step;
    if (s->scale < 0x1p-60) {
        for (int64_t i = 0; i < n * s->n_outputs; i++) s->v[i] *= s->scale;
        s->scale = 1;
    }
    add_column(s->m, e / s->n_outputs, sign * step * s->radius / s->scale / ONE, s->v + e % s->n_outputs * n);
    s->fresh = 0;
}

/* The point where all weights are zero, which is also the first origin. */
static void begin_clocks(walk_t *s) {
    int64_t size = s->m->n * s->n_outputs;
    double root = sqrt((double)size) * (1 + 1e-12);
    s->scale = 1, s->unit = (float)(ONE / s->bound);
    s->lipschitz = LIPSCHITZ[s->loss] * ONE / s->bound * (1 + 1e-6);
    s->rounding = (1 + 1e-6 + 2 * SLIP[s->loss] * ONE / s->bound) * root;
    s->farthest = 2 * ONE * root;
    fresh_residuals(s, s->r);
    memcpy(s->origin, s->r, 2 * (size_t)size);
    s->squares = s->squares_origin = sum_products(s->r, s->r, size);
    settle_residuals(s);
}

#endif

/* Bounds lo <= score <= hi: from the L1 norm, from the score at the origin, from the last look.

   By Cauchy and Schwarz a score moves by at most the L2 norm of its column times how far residuals
   have moved, which the clocks know. */
#ifndef SPARSEDP_WALK_CERTIFICATES_H
#define SPARSEDP_WALK_CERTIFICATES_H

#include "clocks.h"

/* More than what a few roundings of numbers up to 2^28 n come to. */
static inline double pad(const walk_t *s) { return 1 + 0x1p-20 * (double)s->m->n; }

/* Bounds at the current point; returns whether the score is known exactly. */
static int interval(const walk_t *s, int64_t e, double *lo, double *hi) {
    if (s->seen_step[e] == s->t + 1) return 1;
    double now = ahead(s), high = s->cap[e], low = -high;
    if (e >= s->known_from) {
        double center = (double)s->known[e], width = s->l2[e] * (s->away + now);
        low = most(low, center - width), high = least(high, center + width);
    }
    if (s->seen_step[e]) {
        double center = (double)s->seen[e], width = s->l2[e] * (s->moved - s->seen_at[e] + now);
        low = most(low, center - width), high = least(high, center + width);
    }
    return *lo = low - pad(s), *hi = high + pad(s), 0;
}

/* Upper bounds of the scores, and of minus the scores, of all entries from one on, while residuals
   are within `away` of the origin and the clock does not pass `moved`. */
WIDE static void highs(const double *restrict cap, const double *restrict l2, const int64_t *restrict known,
                       const int64_t *restrict seen, const double *restrict seen_at,
                       const int32_t *restrict seen_step, int64_t first, int64_t known_from, int64_t size,
                       double away, double moved, double extra, double *restrict high) {
    for (int64_t e = first; e < size; e++) {
        double origin = (double)known[e], last = (double)seen[e];
        double width = e >= known_from ? l2[e] * away : HUGE_VAL;
        double other = seen_step[e] ? l2[e] * (moved - seen_at[e]) : HUGE_VAL;
        double up = least(origin + width, last + other), down = least(width - origin, other - last);
        high[2 * (e - first)] = least(cap[e], up) + extra;
        high[2 * (e - first) + 1] = least(cap[e], down) + extra;
    }
}

/* The score of an entry, exactly. */
static int64_t look(walk_t *s, int64_t e) {
    const records_t *m = s->m;
    int64_t k = e / s->n_outputs;
    double fly = TIME_FLY * (double)column_size(m, k);
    if (full(m, k) || m->base[k] || s->loss == MULTINOMIAL || s->fly_step + fly > TIME_ROW * (double)m->n)
        pass(s);
    if (s->fresh) {
        int64_t output = e % s->n_outputs, at = output * m->n;
        s->seen[e] = score_of(m, k, s->r + at, s->sum_r[output]);
        spend(s, (full(m, k) ? TIME_DENSE : TIME_ENTRY) * (double)column_size(m, k), 1);
    } else {
        s->seen[e] = score_on_the_fly(m, k, s->loss, s->v, s->scale, s->unit);
        s->fly_step += fly;
        spend(s, fly, 1);
    }
    s->seen_at[e] = s->moved - ahead(s);
    s->seen_step[e] = (int32_t)(s->t + 1);
    s->counters[LOOKS]++;
    return s->seen[e];
}

/* Look at all entries from one on: a new origin. Levels that rest on the old one are void. */
static void renew_origin(walk_t *s, int64_t from) {
    pass(s);
    for (int64_t e = from; e < s->size && !s->failed; e++)
        if (s->seen_step[e] != s->t + 1) look(s, e);
    memcpy(s->known_copy + from, s->seen + from, 8 * (size_t)(s->size - from));
    memcpy(s->origin, s->r, 2 * (size_t)(s->m->n * s->n_outputs));
    s->squares_origin = s->squares;
    s->known = s->known_copy, s->known_from = from;
    s->away = s->spent_since = 0;
    s->built_for = -2;
}

/* From where on an origin is worth its time: the members, and as many that may become members. */
static int64_t neighborhood(const walk_t *s) {
    int64_t members = s->size - s->first;
    return s->first > members ? s->first - members : 0;
}

/* Time to look at all entries from one on. */
static double renewal(const walk_t *s, int64_t from) {
    const records_t *m = s->m;
    int64_t k = from / s->n_outputs, dense = (m->n_full[m->d] - m->n_full[k]) * m->n;
    double rows = TIME_ROW * (double)(m->n * s->n_outputs), building = TIME_BUILD * 4 * (double)(s->size - from);
    double looks = TIME_DENSE * (double)dense + TIME_ENTRY * (double)(m->indptr[m->d] - m->indptr[k] - dense);
    return rows + building + looks * s->n_outputs;
}

#endif

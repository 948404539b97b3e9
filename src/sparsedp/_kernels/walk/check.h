/* Debug build: every invariant that the proof in lazy.md uses, at every step, against residuals and
   scores computed afresh. The first that does not hold is named and ends the walk. */
#ifndef SPARSEDP_WALK_CHECK_H
#define SPARSEDP_WALK_CHECK_H

#include "levels.h"

#define MUST(what)                                                                                 \
    do {                                                                                           \
        if (!(what) && !s->broken) s->broken = #what, s->failed = 1;                               \
    } while (0)

/* The score of an entry from residuals r, term by term. */
static int64_t plain_score(const walk_t *s, int64_t e, const int16_t *r) {
    const records_t *m = s->m;
    int64_t k = e / s->n_outputs, sum = 0;
    r += e % s->n_outputs * m->n;
    if (full(m, k)) {
        for (int64_t i = 0; i < m->n; i++) sum -= (int64_t)m->x[m->indptr[k] + i] * r[i];
        return sum;
    }
    for (int64_t i = 0; m->base[k] && i < m->n; i++) sum -= (int64_t)m->base[k] * r[i];
    for (int64_t p = m->indptr[k]; p < m->indptr[k + 1]; p++)
        sum -= (int64_t)(m->x[p] - m->base[k]) * r[row_at(m, p)];
    return sum;
}

static double plain_distance(const int16_t *a, const int16_t *b, int64_t n) {
    long double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (long double)(a[i] - b[i]) * (a[i] - b[i]);
    return (double)sqrtl(sum);
}

static void check_clocks(walk_t *s, const int16_t *r) {
    int64_t n = s->m->n * s->n_outputs;
    double now = ahead(s);
    for (int64_t i = 0; i < n; i++) {
        int64_t share = s->m->weight ? s->m->weight[i % s->m->n] : WHOLE_WEIGHT;
        MUST(isfinite(s->v[i]) && llabs(r[i]) * WHOLE_WEIGHT <= share * ONE);
    }
    MUST(!s->fresh || memcmp(r, s->r, 2 * (size_t)n) == 0);
    MUST(s->scale * sqrt(squared_norm(s->v, n)) <= s->length * (1 + 1e-9) + 1e-300);         /* I1 */
    MUST(plain_distance(r, s->r, n) <= now + 1e-9);                                          /* I2 */
    MUST(plain_distance(r, s->origin, n) <= s->away + now + 1e-9);                           /* I3 */
    MUST(s->built_for == -1 ? s->moved + now <= s->moved_limit : s->built_for == s->t);      /* I4 */
    MUST(s->all == (s->built_for == s->t));
}

/* What one candidate must fulfill: a level of its own, bounds that hold, E no less than W. */
static void check_candidate(walk_t *s, int64_t c, int l, const int16_t *r, uint8_t *found) {
    int known = c >= 0 && c < 2 * s->size && !found[c];
    MUST(known);                                                                             /* I6 */
    if (!known) return;
    found[c] = 1;
    int64_t q = plain_score(s, c / 2, r);
    double lo, hi;
    int exact = interval(s, c / 2, &lo, &hi);
    MUST(exact ? s->seen[c / 2] == q : lo <= (double)q && (double)q <= hi);                  /* I7 */
    MUST(!s->all || exact);
    long double gap = (long double)(c & 1 ? -q : q) - (long double)s->top;
    MUST((long double)s->rate * gap <= logl((long double)s->weight[l]) - s->octaves * logl(2) + 1e-9L); /* I8 */
}

static void check(walk_t *s) {
    if (s->failed) return;
    int64_t n = s->m->n * s->n_outputs, count = 0;
    int16_t *r = malloc(2 * (size_t)n);
    uint8_t *found = calloc((size_t)(2 * s->size), 1);
    MUST(r && found);
    if (r && found) {
        fresh_residuals(s, r);
        check_clocks(s, r);
        uint64_t total = 0;
        for (int l = 0; l <= s->bottom; l++) {
            MUST(s->weight[l] >= 1 &&
                 logl((long double)s->weight[l]) >= (s->octaves - 0.25L * l) * logl(2) - 1e-17L);
            total += (uint64_t)(s->members[l] + s->capped[l]) * s->weight[l];
            for (int64_t i = 0; i < s->members[l] + s->capped[l]; i++, count++)
                check_candidate(s,
                                i < s->members[l] ? s->candidate[s->place[l] + i]
                                                  : 2 * s->capped_from[l] + i - s->members[l],
                                l, r, found);
        }
        MUST(total == s->total && total < (1ULL << 62));                                     /* I5 */
        MUST(count == 2 * s->size);                                                          /* I6 */
    }
    free(r), free(found);
}

/* A look, also one on the fly, gives the score at this point. */
static void check_look(walk_t *s, int64_t e) {
    int16_t *r = malloc(2 * (size_t)(s->m->n * s->n_outputs));
    MUST(r);
    if (!r) return;
    fresh_residuals(s, r);
    MUST(s->seen[e] == plain_score(s, e, r));                                                /* I7 */
    free(r);
}

static double chance(const walk_t *s, double h, double per);

/* A decision that bounds settled is the one that the score gives. */
static void check_squeeze(walk_t *s, int64_t e, double sign, double u, double per, int answer) {
    int64_t n = s->m->n * s->n_outputs;
    int16_t *r = malloc(2 * (size_t)n);
    MUST(r);
    if (!r) return;
    fresh_residuals(s, r);
    double p = chance(s, s->rate * (sign * (double)plain_score(s, e, r) - (double)s->top), per);
    MUST(answer ? u < p * (1 + 1e-9) : u > p * (1 - 1e-9));                                  /* I9 */
    free(r);
}

#endif

/* What a walk knows. Candidates are pairs: entry e = column * n_outputs + output, with either sign. */
#ifndef SPARSEDP_WALK_STATE_H
#define SPARSEDP_WALK_STATE_H

#include "records.h"

#define LEVELS 256
enum { AUTO, LAZY, FULL };
enum { ATTEMPTS, LOOKS, PASSES, BUILDS, ALL, CAPPED, SQUEEZED, RESOLVED, REMAINDERS, N_COUNTERS };
/* Model of time in nanoseconds: decides when things are done, never what comes out. */
#define TIME_ROW 1.2
#define TIME_ENTRY 0.8
#define TIME_FLY 3.0
#define TIME_DENSE 0.12
#define TIME_BUILD 8.0
#define TIME_ATTEMPT 50.0
#define TIME_POLL 5e7

typedef struct {
    /* What is asked. */
    const records_t *m;
    int loss, n_outputs, mode, laplace;
    double bound, radius, rate; /* a unit of score counts `rate` in the logarithm of a weight */
    int64_t n_steps;
    const double *steps;
    const double *cap, *l2; /* of each entry: no score is larger; norm of its column, rounded up */
    const int64_t *start;   /* scores at weights zero */
    int64_t *chosen;
    double margin, idle, first_horizon; /* change time only; tests force rare paths with them */
    int64_t most_attempts;              /* once all scores are known */

    /* Where bits and exact decisions come from; each callback returns less than zero if it failed. */
    const uint64_t *words;
    int64_t position, available;
    int (*refill)(void *), (*poll)(void *);
    int (*resolve)(void *, uint64_t, int64_t, int, uint64_t);
    void *context;
    int64_t counters[N_COUNTERS];
    const char *broken; /* which invariant does not hold (debug build) */
    int failed;

    /* The point: margins are scale * v. */
    int64_t t, size; /* step; number of entries */
    double *v, scale;
    float unit;
    /* Residuals at the last pass, their sums, and at the origin, where scores from `known_from` on
       are known. */
    int16_t *r, *spare, *origin;
    int64_t squares, squares_origin; /* |r|^2 and |origin|^2 */
    int64_t sum_r[MOST_OUTPUTS], *known_copy, known_from;
    const int64_t *known;
    int fresh; /* r belongs to the current point */

    /* Clocks: how far residuals have moved, L2, in their units. */
    double moved, away;   /* along all passes; of the last pass from the origin */
    double since, length; /* bounds: since the last pass; norm of the margins */
    double lipschitz, rounding, farthest;

    int64_t *seen; /* last look at an entry: score, clock, step + 1 */
    double *seen_at;
    int32_t *seen_step;

    /* Levels. */
    int64_t first; /* entries before are bounded by their caps alone */
    int64_t top;   /* E is 2^octaves at this score */
    int octaves, bottom;
    uint64_t weight[LEVELS], total;
    int shift; /* the last bits of a word that a number below the total does not need */
    int64_t members[LEVELS], place[LEVELS], capped[LEVELS], capped_from[LEVELS];
    double *high;
    uint8_t *level;
    int32_t *candidate;
    double moved_limit; /* how long they are valid, or */
    int64_t built_for;  /* for this step only; -1 for no such limit, -2 for no levels */
    int all;            /* all scores of this step are known */

    /* When to do what. */
    double horizon, spent_step, spent_period, spent_since, fly_step, full_time, unpolled;
    int64_t tries, builds, all_until;
    int gave_up, failures;
    double depth; /* Laplace noise: all is known to be below this */
} walk_t;

static inline double least(double a, double b) { return a < b ? a : b; }
static inline double most(double a, double b) { return a > b ? a : b; }

/* Count time; now and then ask whether to go on. */
static void spend(walk_t *s, double time, int since_origin) {
    s->spent_step += time;
    if (since_origin) s->spent_period += time, s->spent_since += time;
    if ((s->unpolled += time) > TIME_POLL) {
        s->unpolled = 0;
        if (s->poll(s->context) < 0) s->failed = 1;
    }
}

static void release(walk_t *s) {
    void *all[] = {s->v, s->r, s->spare, s->origin, s->known_copy, s->seen, s->seen_at,
                   s->seen_step, s->high, s->level, s->candidate};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static int allocate(walk_t *s) {
    size_t n = (size_t)s->m->n * (size_t)s->n_outputs, size = (size_t)s->size;
    s->v = calloc(n, 8), s->r = malloc(2 * n), s->spare = malloc(2 * n), s->origin = malloc(2 * n);
    s->known_copy = malloc(8 * size), s->seen = calloc(size, 8);
    s->seen_at = calloc(size, 8), s->seen_step = calloc(size, 4), s->high = malloc(16 * size);
    s->level = malloc(2 * size), s->candidate = malloc(8 * size);
    return s->v && s->r && s->spare && s->origin && s->known_copy && s->seen && s->seen_at && s->seen_step &&
           s->high && s->level && s->candidate;
}

#endif

/* Whole numbers E no less than the wanted weights W = 2^octaves * exp(rate * (score - top)).

   Candidates lie in levels a quarter of an octave apart by their upper bounds; a level shares one E.
   Levels are floors of linear functions, cut at the bottom, where E is 1: no exponential is taken. */
#ifndef SPARSEDP_WALK_LEVELS_H
#define SPARSEDP_WALK_LEVELS_H

#include "certificates.h"

#define PER_QUARTER (5.770780163555854 * (1 - 1e-9)) /* 4 / ln 2, rounded down */

/* The level of a candidate that is this much below the top: not too deep, whatever is rounded. */
static inline int32_t level_of(double gap, double rate, int32_t bottom) {
    double down = gap * (rate * PER_QUARTER) - 1e-5;
    down = down > 0 ? down : 0;
    return (int32_t)(down < (double)bottom ? down : (double)bottom);
}

WIDE static void levels_of(const double *restrict high, int64_t size, double top, double rate, int32_t bottom,
                           uint8_t *restrict level) {
    for (int64_t c = 0; c < size; c++) level[c] = (uint8_t)level_of(top - high[c], rate, bottom);
}

/* E of every level: 2^(octaves - level / 4), rounded up. */
static void begin_levels(walk_t *s) {
    static const uint64_t quarter[] = {/* 2^61, 2^60.75, 2^60.5, 2^60.25, rounded up */
                                       0x2000000000000000, 0x1AE89F995AD3AD5F, 0x16A09E667F3BCC91,
                                       0x1306FE0A31B7152E};
    s->octaves = 61; /* so that the sum of all E stays below 2^62 */
    for (int64_t candidates = 2 * s->size; candidates > 1; candidates = (candidates + 1) / 2) s->octaves--;
    s->bottom = 4 * s->octaves;
    for (int l = 0; l <= s->bottom; l++) {
        int shift = 61 - s->octaves + l / 4;
        s->weight[l] = (quarter[l % 4] >> shift) + (quarter[l % 4] & ((1ULL << shift) - 1) ? 1 : 0);
    }
}

/* Entries before `first` go by their caps, which do not decrease; returns their E together. */
static double cap_levels(walk_t *s) {
    double mass = 0, top = (double)s->top - pad(s);
    memset(s->capped, 0, sizeof s->capped);
    for (int64_t end = s->first; end > 0;) {
        int level = level_of(top - s->cap[end - 1], s->rate, s->bottom);
        int64_t high = end - 1, stride = 1; /* the first entry of the level: not far if it has few */
        while (high >= stride && level_of(top - s->cap[high - stride], s->rate, s->bottom) <= level)
            high -= stride, stride *= 2;
        int64_t low = high >= stride ? high - stride + 1 : 0;
        while (low < high) {
            int64_t middle = (low + high) / 2;
            if (level_of(top - s->cap[middle], s->rate, s->bottom) <= level) high = middle;
            else low = middle + 1;
        }
        s->capped[level] = 2 * (end - low), s->capped_from[level] = low;
        mass += (double)s->capped[level] * (double)s->weight[level];
        end = low;
    }
    return mass;
}

/* The levels of the members, whose bounds are in `high`; returns their E together. */
static double member_levels(walk_t *s) {
    int64_t size = 2 * (s->size - s->first);
    double top = s->first ? s->cap[s->first - 1] + pad(s) : -HUGE_VAL, mass = 0;
    for (int64_t c = 0; c < size; c++) top = most(top, s->high[c]);
    s->top = (int64_t)ceil(top); /* within 2^57, as caps are */
    levels_of(s->high, size, (double)s->top, s->rate, s->bottom, s->level);
    memset(s->members, 0, sizeof s->members);
    for (int64_t c = 0; c < size; c++) s->members[s->level[c]]++;
    for (int l = 0; l <= s->bottom; l++) mass += (double)s->members[l] * (double)s->weight[l];
    return mass;
}

static void sort_members(walk_t *s) {
    int64_t next[LEVELS], place = 0, size = 2 * (s->size - s->first);
    s->total = 0;
    for (int l = 0; l <= s->bottom; l++) {
        s->place[l] = next[l] = place, place += s->members[l];
        s->total += (uint64_t)(s->members[l] + s->capped[l]) * s->weight[l];
    }
    for (int64_t c = 0; c < size; c++) s->candidate[next[s->level[c]]++] = (int32_t)(c + 2 * s->first);
    for (s->shift = 63; s->shift && (s->total - 1) >> (64 - s->shift);) s->shift--;
    s->tries = 0;
    s->counters[BUILDS]++;
}

/* Levels that are valid until residuals have moved by `horizon`. */
static void build(walk_t *s, double horizon) {
    double extra = ahead(s) + horizon;
    for (int round = 0;; round++) {
        highs(s->cap, s->l2, s->known, s->seen, s->seen_at, s->seen_step, s->first, s->known_from, s->size,
              s->away + extra, s->moved + extra, pad(s), s->high);
        double mass = member_levels(s), capped = cap_levels(s);
        /* Of two opposite candidates one weighs at least as much as at score zero. */
        double allowed = s->idle * (mass + 2.0 * (double)s->first * (double)s->weight[level_of((double)s->top, s->rate, s->bottom)]);
        spend(s, TIME_BUILD * (double)(s->size - s->first), 0);
        if (capped <= allowed || round > 4) break;
        for (int l = 0; l <= s->bottom && capped > 0.5 * allowed; l++) /* too many by caps alone */
            if (s->capped[l])
                capped -= (double)s->capped[l] * (double)s->weight[l], s->first = s->capped_from[l];
    }
    sort_members(s);
    s->moved_limit = s->moved + extra;
    s->built_for = -1;
}

/* All scores, exactly: what every failure ends in. Levels for this step, from differences of whole
   numbers. */
static void compute_all(walk_t *s) {
    int64_t first = s->first, top = 0;
    renew_origin(s, 0);
    for (int64_t e = 0; e < s->size; e++) {
        int64_t size = s->seen[e] < 0 ? -s->seen[e] : s->seen[e];
        top = size > top ? size : top;
    }
    s->first = 0, s->top = top;
    memset(s->members, 0, sizeof s->members), memset(s->capped, 0, sizeof s->capped);
    for (int64_t e = 0; e < s->size; e++) {
        s->level[2 * e] = (uint8_t)level_of((double)(top - s->seen[e]), s->rate, s->bottom);
        s->level[2 * e + 1] = (uint8_t)level_of((double)(top + s->seen[e]), s->rate, s->bottom);
        s->members[s->level[2 * e]]++, s->members[s->level[2 * e + 1]]++;
    }
    sort_members(s);
    s->first = first; /* for the next levels; now all entries are members */
    s->all = 1, s->built_for = s->t;
    s->counters[ALL]++;
}

/* Whether levels may no longer dominate: `moved + ahead` bounds the path since they were built. */
static int expired(const walk_t *s) {
    if (s->built_for != -1) return s->built_for != s->t;
    return !(s->moved + ahead(s) <= s->moved_limit);
}

#endif

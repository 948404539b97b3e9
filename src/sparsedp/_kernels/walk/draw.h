/* One attempt: a candidate with probability E / total, accepted with probability W / E. */
#ifndef SPARSEDP_WALK_DRAW_H
#define SPARSEDP_WALK_DRAW_H

#include "levels.h"

#define LN2 0.6931471805599453

#ifdef SPARSEDP_CHECKED
#include "check.h"
#else
#define check(s)
#define check_look(s, e)
#define check_squeeze(s, e, sign, u, per, answer)
#endif

static uint64_t next_word(walk_t *s) {
    if (s->position >= s->available && (s->failed || s->refill(s->context) < 0)) s->failed = 1;
    return s->failed ? 0 : s->words[s->position++];
}

static double uniform(walk_t *s) { return ((double)(next_word(s) >> 11) + 0.5) * 0x1p-53; }

/* A uniform whole number below the total: as many bits as it has, again if that is too large. */
static uint64_t below_total(walk_t *s) {
    for (int attempt = 0; attempt < 256 && !s->failed; attempt++) {
        uint64_t point = next_word(s) >> s->shift;
        if (point < s->total) return point;
    }
    s->failed = 1; /* by chance once in 2^256 */
    return 0;
}

/* Probability of accepting a candidate of weight exp(h) relative to the top; for Laplace noise what
   is left of it at this depth (lazy.md). It increases with h. */
static inline double chance(const walk_t *s, double h, double per) {
    double weight = exp(h), p = weight * per;
    if (!s->laplace) return p;
    double y = weight * exp(s->rate * (double)s->top - s->depth);
    return y < 1 ? p * 0.5 / (1 - 0.5 * y) : p / y;
}

/* Whether a candidate drawn with `weight` is accepted: bounds settle it, or its score does. */
static int decide(walk_t *s, int64_t e, double sign, uint64_t weight) {
    uint64_t word = next_word(s);
    double u = (double)(word >> 11) * 0x1p-53, per = ldexp(1, s->octaves) / (double)weight;
    double lo, hi, top = (double)s->top;
    if (!interval(s, e, &lo, &hi)) {
        double worst = sign > 0 ? lo : -hi, best = sign > 0 ? hi : -lo;
        int answer = -1;
        if (u < chance(s, s->rate * (worst - top), per) * (1 - s->margin) - 0x1p-50) answer = 1;
        else if (u > chance(s, s->rate * (best - top), per) * (1 + s->margin) + 0x1p-50) answer = 0;
        if (answer >= 0) {
            check_squeeze(s, e, sign, u, per, answer);
            s->counters[SQUEEZED]++;
            return answer;
        }
        look(s, e);
        check_look(s, e);
    }
    int64_t gap = (sign > 0 ? s->seen[e] : -s->seen[e]) - s->top;
    double p = chance(s, s->rate * (double)gap, per);
    if (s->laplace) return u < p;
    if (u < p * (1 - s->margin) - 0x1p-50) return 1;
    if (u > p * (1 + s->margin) + 0x1p-50) return 0;
    s->counters[RESOLVED]++;
    int answer = s->resolve(s->context, word, gap, s->octaves, weight);
    if (answer < 0) s->failed = 1;
    return answer > 0;
}

/* A candidate with probability E / total: its entry, sign and E. */
static int64_t propose(walk_t *s, double *sign, uint64_t *weight) {
    uint64_t point = below_total(s), mass;
    int level = 0;
    for (; level < s->bottom; level++, point -= mass) {
        mass = (uint64_t)(s->members[level] + s->capped[level]) * s->weight[level];
        if (point < mass) break;
    }
    int64_t which = (int64_t)(point / s->weight[level]), c;
    if (which < s->members[level])
        c = s->candidate[s->place[level] + which];
    else
        c = 2 * s->capped_from[level] + which - s->members[level], s->counters[CAPPED]++;
    *sign = c & 1 ? -1 : 1, *weight = s->weight[level];
    return c / 2;
}

/* Laplace noise: the points of the dominating process come from the top down. */
static void descend(walk_t *s) {
    double level = s->rate * (double)s->top;
    double height = exp(level - s->depth) - log(uniform(s)) * ldexp(1, s->octaves) / (double)s->total;
    s->depth = level - log(height);
}

/* The largest of all scores plus Laplace noise, given that it is below `depth`: no attempt fails. */
static int64_t draw_remainder(walk_t *s, double *sign) {
    double best = -HUGE_VAL;
    int64_t found = 0;
    for (int64_t c = 0; c < 2 * s->size; c++) {
        double score = s->rate * (double)(c & 1 ? -s->seen[c / 2] : s->seen[c / 2]), x = s->depth - score;
        double part = log(uniform(s)) + (x < 0 ? x - LN2 : log1p(-0.5 * exp(-x)));
        double noisy = score + (part < -LN2 ? part + LN2 : -log(-2 * expm1(part)));
        if (noisy > best) best = noisy, found = c;
    }
    s->counters[REMAINDERS]++;
    *sign = found & 1 ? -1 : 1;
    return found / 2;
}

#endif

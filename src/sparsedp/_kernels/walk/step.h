/* The walk: valid levels before each step, attempts until one is accepted, a step to its vertex.

   Every loop ends: at most 9 times levels are built in a step, each after a bounded number of attempts;
   then all scores are computed, and each attempt is accepted with a probability above a third. */
#ifndef SPARSEDP_WALK_STEP_H
#define SPARSEDP_WALK_STEP_H

#include "draw.h"

#define STEEPEST 0x1p30
#define PATIENCE 1.5

/* Lazy steps must not take longer than full ones, and lazy walks must end. */
static int out_of_patience(const walk_t *s) {
    return s->builds > 8 || (s->mode == AUTO && s->spent_step > 0.5 * s->full_time);
}

/* Look at the members that hold most of the weight: levels built after that are as good as exact. */
static void look_at_the_best(walk_t *s) {
    uint64_t left = s->total;
    pass(s);
    for (int l = 0; l <= s->bottom && left > s->total / 8 && !s->failed; l++) {
        for (int64_t i = 0; i < s->members[l]; i++) {
            int64_t e = s->candidate[s->place[l] + i] / 2;
            if (s->seen_step[e] != s->t + 1) look(s, e);
        }
        left -= (uint64_t)(s->members[l] + s->capped[l]) * s->weight[l];
    }
}

static int64_t select_vertex(walk_t *s, double *sign) {
    uint64_t weight;
    s->depth = HUGE_VAL;
    for (int64_t attempt = 0; !s->failed; attempt++) {
        if (!s->all && out_of_patience(s)) {
            compute_all(s);
            check(s);
            attempt = 0, s->gave_up = 1;
        } else if (!s->all && s->tries > 32 + (s->size - s->first) / 16) {
            s->horizon *= 0.5;
            if (++s->builds == 2) look_at_the_best(s);
            else if (s->builds == 4) renew_origin(s, neighborhood(s));
            pass(s);
            build(s, s->horizon);
            check(s);
        }
        if (attempt > s->most_attempts && s->all) {
            if (s->laplace) return draw_remainder(s, sign);
            break; /* never: less likely than 2^-2000 */
        }
        s->tries++, s->counters[ATTEMPTS]++;
        spend(s, TIME_ATTEMPT, 1);
        int64_t e = propose(s, sign, &weight);
        if (s->laplace) descend(s);
        if (decide(s, e, *sign, weight) && !s->failed) return e;
    }
    s->failed = 1;
    return 0;
}

/* Before a step: levels that are valid; all scores if lazy steps do not pay. */
static void prepare(walk_t *s) {
    int64_t members = s->size - s->first, from = neighborhood(s);
    s->all = s->gave_up = 0, s->builds = s->tries = 0, s->spent_step = s->fly_step = 0;
    if (s->mode == FULL || s->t < s->all_until || !(s->rate * s->cap[s->size - 1] < STEEPEST)) {
        compute_all(s);
        return;
    }
    int renew = s->spent_since > PATIENCE * renewal(s, from);
    if (renew) renew_origin(s, from);
    else if (!expired(s)) return;
    pass(s);
    double passing = TIME_ROW * (double)(s->m->n * s->n_outputs), building = TIME_BUILD * (double)members;
    if (!expired(s) && building > passing && s->moved_limit - s->moved > 0.5 * s->horizon) return;
    double used = s->spent_period / (passing + building);
    s->horizon = least(s->horizon * (used < 0.05 ? 4 : used < 1 ? 1.5 : 1 / 1.5), s->farthest);
    s->spent_period = 0;
    s->first += members / 8; /* as few members as possible: `build` takes more if it must */
    build(s, s->horizon);
}

/* After a step that computed all scores because lazy steps did not pay: another try, then, if that does
   not pay either, not at once again. */
static void back_off(walk_t *s) {
    if (!s->all) s->failures = 0;
    if (s->mode != AUTO || !s->gave_up) return;
    int64_t longest = (1LL << (s->failures < 9 ? s->failures : 9)) - 1, quarter = 1 + s->t / 4;
    s->failures++;
    s->all_until = s->t + 1 + (quarter < longest ? quarter : longest);
}

static int begin(walk_t *s) {
    s->size = s->m->d * s->n_outputs;
    if (!allocate(s)) return 0;
    begin_clocks(s);
    begin_levels(s);
    s->known = s->start, s->built_for = -2;
    for (int64_t high = s->size; s->first < high;) { /* caps do not decrease */
        int64_t middle = (s->first + high) / 2;
        if (s->rate * s->cap[middle] < 1) s->first = middle + 1;
        else high = middle;
    }
    s->full_time = renewal(s, 0);
    s->horizon = s->first_horizon > 0 ? s->first_horizon : 1 / (s->rate * most(s->l2[s->size - 1], 1));
    s->horizon = least(s->horizon, s->farthest);
    return 1;
}

/* The whole walk; 0, or 1 without memory, 2 if a callback or an invariant failed. */
static int run_walk(walk_t *s) {
    int ready = begin(s);
    for (s->t = 0; ready && s->t < s->n_steps && !s->failed; s->t++) {
        double sign = 1;
        prepare(s);
        check(s);
        int64_t e = select_vertex(s, &sign);
        if (s->failed) break;
        back_off(s);
        s->chosen[s->t] = 2 * e + (sign < 0);
        advance(s, e, sign, s->steps[s->t]);
    }
    release(s);
    return ready ? (s->failed ? 2 : 0) : 1;
}

/* All scores along a walk to given candidates: for audits, and with one step those at weights zero. */
static int replay_walk(walk_t *s, const int64_t *candidates, int64_t *scores) {
    s->size = s->m->d * s->n_outputs;
    int ready = allocate(s);
    if (ready) begin_clocks(s);
    for (s->t = 0; ready && s->t < s->n_steps && !s->failed; s->t++) {
        pass(s);
        for (int64_t e = 0; e < s->size && !s->failed; e++) scores[s->t * s->size + e] = look(s, e);
        if (candidates) advance(s, candidates[s->t] / 2, candidates[s->t] & 1 ? -1 : 1, s->steps[s->t]);
    }
    release(s);
    return ready ? (s->failed ? 2 : 0) : 1;
}

#endif

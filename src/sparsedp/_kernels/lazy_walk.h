/* Selections along a walk, each exactly from the exponential mechanism (or, in ordinary floating
   point, the largest of scores plus Laplace noise), most scores never computed.

   A candidate is proposed with integer weights that bound the true ones from above, and accepted
   with probability true weight / proposed weight. Bounds on its score settle most acceptances; only
   otherwise the score is computed. After a rejection everything may be chosen anew: each attempt
   has the right distribution whatever happened before. See mechanisms/lazy.md for the proof. */
#ifndef SPARSEDP_LAZY_WALK_H
#define SPARSEDP_LAZY_WALK_H

#include "lazy_envelope.h"
#include "lazy_full.h"
#include "lazy_memory.h"

static uint64_t next_word(walk_t *s) {
    if (s->position == s->available && (s->failed || s->refill(s->context))) {
        s->failed = 1;
        return ~0ULL;
    }
    return s->words[s->position++];
}

/* A uniform integer below n, without bias. */
static uint64_t below(walk_t *s, uint64_t n) {
    unsigned __int128 product = (unsigned __int128)next_word(s) * n;
    if ((uint64_t)product < n) {
        uint64_t surplus = -n % n;
        while ((uint64_t)product < surplus && !s->failed)
            product = (unsigned __int128)next_word(s) * n;
    }
    return (uint64_t)(product >> 64);
}

/* How far the score of an entry can go; only asked for entries that are ever used. */
static void find_reach(walk_t *s, int64_t e, int64_t k) {
    double range = s->loss == SQUARED ? 2 * s->bound : s->bound;
    double error = 2 * DERIVATIVE_ERROR + 0x1p-40 * s->bound;
    s->reach[e] = s->steepness * s->norms[k] * (1 + 1e-6);
    s->span[e] = s->steepness * range * s->sums[k] * (1 + 1e-6);
    /* Of two scores: rounding to the grid, derivatives, and sums, off by far less. */
    s->slack[e] = 2 * s->rate + error * s->steepness * s->sums[k] * (1 + 1e-6);
}

/* Compute the score of an entry, or bound it. */
static void anchor(walk_t *s, int64_t e, int64_t k, int c) {
    if (s->reach[e] == 0) find_reach(s, e, k);
    s->tolerance[e] = s->slack[e];
    if (!s->t)
        s->units[e] = rint(-s->start[k * s->n_outputs + c] * (1.0 / s->grid));
    else if (s->anchor_exact || !has_coarse(s, k))
        s->units[e] = score_units(s, k, c);
    else {
        s->units[e] = -coarse_sum(s, k, c) / s->grid;
        s->tolerance[e] += s->steepness * coarse_error(s, k, c);
    }
}

/* Find scores from the longest columns down, until those of the rest are bounded so low that all
   together they would hardly ever be proposed: these are light until the next time. */
static void find_scores(walk_t *s) {
    int k = s->n_outputs, g = s->n_groups;
    double top = 0, mass = 0, size = 0, time = s->dense ? TIME_DENSE : TIME_ENTRY;
    s->anchor_exact = !s->t || !s->coarse_anchors;
    if (!s->anchor_exact) {
        coarsen(s);
        double worst = 0;
        for (int64_t column = s->n_light; column < s->n_columns; column++)
            for (int c = 0; c < k && has_coarse(s, column); c++)
                worst = most(worst, s->steepness * coarse_error(s, column, c));
        if (worst > COARSEST)
            s->anchor_exact = 1;
        else
            time = TIME_COARSE;
    }
    double light = 0, light_masses[GROUPS]; /* with the weight of the group's own cap as unit */
    double candidates = 2.0 * k;
    for (int i = 0; i < g; i++) {
        light = i ? light * exponential(s->group_cap[i - 1] - s->group_cap[i]) : 0;
        light += candidates * (double)(s->group_start[i + 1] - s->group_start[i]);
        light_masses[i] = light;
    }
    int64_t position = s->n_columns;
    for (; g > LIGHT_GROUPS; g--) {
        /* What is below an empty group may be far below its cap, and underflow in its unit. */
        if (s->group_start[g] == s->group_start[g - 1]) continue;
        /* Of two opposite candidates the weights come to two at least: proposals of light columns
           are not wasted where these hardly differ. The longer such columns are, the more it costs
           to look at one, and the fewer proposals may be wasted. */
        double longest = (double)column_size(s, s->group_start[g] - 1), least_mass = mass;
        if (SHORT * longest < (double)s->n)
            least_mass += candidates * (double)s->group_start[g] * exponential(-top);
        double wasted = light_masses[g - 1] * exponential(s->group_cap[g - 1] - top);
        if (wasted * (1 + longest / LONG) < s->idle * least_mass)
            break;
        for (; position > s->group_start[g - 1]; position--) {
            int64_t column = position - 1;
            size += (double)column_size(s, column);
            for (int c = 0; c < k; c++) {
                int64_t e = (position - 1 - s->n_light) * k + c;
                anchor(s, e, column, c);
                double h = s->rate * fabs(s->units[e]);
                if (h > top) mass *= exponential(top - h), top = h;
                mass += exponential(h - top);
            }
        }
    }
    while (g > 0 && s->group_start[g] == s->group_start[g - 1]) g--; /* empty: no need for a scale */
    s->light_groups = g;
    s->first = (position - s->n_light) * k;
    s->refresh_time = (TIME_ROW * (double)s->n + time * size) * k +
                      TIME_HEAVY * (double)(s->n_entries - s->first);
}

/* Compute the scores of heavy columns, and plan how long they shall be good for. */
static void refresh(walk_t *s) {
    int64_t length = s->t - s->anchor_step;
    double average = (s->refresh_time + s->spent) / (double)(length > 0 ? length : 1);
    freshen(s);
    if (s->eager_only)
        find_all_scores(s);
    else
        find_scores(s);
    s->counters[REFRESHES]++;
    if (!s->eager_only && s->t > s->eager_until) {
        /* Half of how far it went this time: more room is a cheap rebuild away. */
        if (s->drifted > 0) s->planned = 0.5 * s->drifted;
        /* One failure may be chance. Steps get smaller like 1 / t: after several it is worth
           another try a quarter later at most. */
        s->failures = average > 0.9 * s->refresh_time ? s->failures + 1 : 0;
        if (s->failures > 1 && !s->never_eager) {
            int64_t quarter = 1 + s->t / 4, longest = 1 << (s->failures < 9 ? s->failures : 9);
            s->eager_until = s->t + (quarter < longest ? quarter : longest);
        }
    }
    s->anchor_step = s->t;
    s->drifted = s->offset = 0;
    build(s, s->eager_only || s->t < s->eager_until ? 0 : s->planned);
    s->spent = s->spent_step = s->step_start = s->recent = 0;
    if (s->tracking) {
        memcpy(s->anchor_r, s->r, sizeof(float) * (size_t)(s->n * s->n_outputs));
        remember(s);
    }
}

/* Probability of accepting a candidate of weight exp(h - level), and for Laplace noise what is
   left of it at this height of the noise: see lazy.md. */
static inline double chance(const walk_t *s, double weight, double per_unit, double height) {
    double p = weight * per_unit;
    if (!s->laplace) return p;
    double y = weight * height;
    return y < 1 ? p * 0.5 / (1 - 0.5 * y) : p / y;
}

/* Whether bounds settle if a candidate is accepted; -1 if they do not. */
static int squeeze(const walk_t *s, int positive, double low, double high, double u,
                   double per_unit, double height) {
    double least_h = positive ? low : -high, most_h = positive ? high : -low;
    double lower = chance(s, exponential(least_h - s->level), per_unit, height);
    if (u < lower * (1 - s->margin) - 0x1p-50) return 1;
    double upper = chance(s, exponential(most_h - s->level), per_unit, height);
    return u > upper * (1 + s->margin) + 0x1p-50 ? 0 : -1;
}

/* Accept or reject a candidate; e < 0 for light columns. Returns 2 more if its score was computed
   or bounded anew. */
static int decide(walk_t *s, int64_t k, int c, int64_t e, int positive, int exact, double low,
                  double high, double units, uint64_t weight, double height) {
    uint64_t word = next_word(s);
    double u = (double)(word >> 11) * 0x1p-53, per_unit = ldexp(1, s->octaves) / (double)weight;
    int looked = 0;
    if (!exact) {
        int accepted = squeeze(s, positive, low, high, u, per_unit, height);
        if (accepted < 0 && e >= 0 && glance(s, e, low, high)) {
            looked = 2;
            interval(s, e, &low, &high, &units);
            accepted = squeeze(s, positive, low, high, u, per_unit, height);
        }
        if (accepted >= 0) {
            s->counters[SQUEEZED]++;
            return looked | accepted;
        }
        units = e >= 0 ? look(s, e) : score_units(s, k, c);
        looked = 2;
    }
    double sign = positive ? 1 : -1;
    int64_t gap = (int64_t)(sign * units) - (int64_t)s->top_units; /* whole numbers: exact */
    double p = chance(s, exponential(s->rate * (double)gap), per_unit, height);
    if (s->laplace || u < p * (1 - s->margin) - 0x1p-50) return looked | (u < p);
    if (u > p * (1 + s->margin) + 0x1p-50) return looked;
    s->counters[RESOLVED]++;
    int answer = s->resolve(s->context, word, gap, s->octaves, weight);
    if (answer < 0) s->failed = 1;
    return looked | (answer > 0);
}

/* One selection: returns the column, its output and sign. */
static int64_t select_vertex(walk_t *s, int *c, int *positive) {
    int k_outputs = s->n_outputs;
    double height = 0, before = s->level;
    int64_t points = 0;
    while (!s->failed) {
        if (points > 0 && s->n_heavy && s->anchor_step < s->t &&
            s->spent - s->step_start > 0.15 * s->patience * s->refresh_time) {
            refresh(s);
            weigh(s);
            height *= exponential(s->level - before);
            before = s->level;
        }
        points++;
        s->counters[POINTS]++;
        s->spent += TIME_POINT + TIME_SCAN * (double)(s->n_explicit / SCANNED);
        uint64_t point = below(s, s->total);
        if (s->laplace) {
            double u = ((double)(next_word(s) >> 11) + 0.5) * 0x1p-53;
            height -= log(u) * ldexp(1, s->octaves) / (double)s->total;
        }
        uint64_t in_table = s->n_table ? s->cumulative[s->n_table - 1] : 0;
        if (point < in_table) {
            int64_t first = 0, last = s->n_table - 1;
            while (first < last) {
                int64_t middle = (first + last) >> 1;
                if (s->cumulative[middle] > point)
                    last = middle;
                else
                    first = middle + 1;
            }
            uint64_t start = first ? s->cumulative[first - 1] : 0;
            int64_t e = s->in_table[first];
            double low, high, units = 0;
            int exact = interval(s, e, &low, &high, &units);
            *positive = point - start < s->positive[first];
            uint64_t weight = *positive ? s->positive[first]
                                        : s->cumulative[first] - start - s->positive[first];
            int64_t k = s->n_light + e / k_outputs;
            *c = (int)(e % k_outputs);
            if (decide(s, k, *c, e, *positive, exact, low, high, units, weight, height) & 1) return k;
            continue;
        }
        point -= in_table;
        int64_t j = 0;
        while (j < s->n_explicit && point >= s->explicit_block[j / SCANNED])
            point -= s->explicit_block[j / SCANNED], j += SCANNED;
        while (j < s->n_explicit && point >= s->explicit_positive[j] + s->explicit_negative[j])
            point -= s->explicit_positive[j] + s->explicit_negative[j], j++;
        if (j < s->n_explicit) {
            int64_t e = s->explicit_entry[j], k = s->n_light + e / k_outputs;
            double low, high, units = 0;
            int exact = interval(s, e, &low, &high, &units);
            *positive = point < s->explicit_positive[j];
            *c = (int)(e % k_outputs);
            int answer = decide(s, k, *c, e, *positive, exact, low, high, units,
                                *positive ? s->explicit_positive[j] : s->explicit_negative[j], height);
            if (answer & 1) return k;
            if (answer & 2) propose_again(s, j);
            continue;
        }
        int g = 0;
        while (point >= s->light_total[g]) point -= s->light_total[g++];
        uint64_t member = point / s->light_weight[g];
        *positive = (int)(member & 1);
        *c = (int)((member >> 1) % (uint64_t)k_outputs);
        int64_t k = s->group_start[g] + (int64_t)((member >> 1) / (uint64_t)k_outputs);
        double reach = s->slack_rate * s->sums[k] + s->rate;
        s->counters[LIGHT]++;
        if (decide(s, k, *c, -1, *positive, 0, -reach, reach, 0, s->light_weight[g], height) & 1)
            return k;
    }
    return 0;
}

static int64_t first_above(const walk_t *s, int64_t low, double limit) {
    int64_t high = s->n_columns;
    while (low < high) {
        int64_t middle = (low + high) >> 1;
        if (s->sums[middle] <= limit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Light columns by groups, heavy ones with their bounds; scores at weights zero. */
static int begin(walk_t *s) {
    int k = s->n_outputs;
    s->steepness = s->rate / s->grid;
    s->slack_rate = s->steepness * s->bound * (1 + 1e-6);
    s->lipschitz = s->loss == LOGISTIC ? 0.25 : s->loss == SQUARED ? 1.0 : 0.70711;
    s->passes_always = s->dense != NULL || s->offsets != NULL;
    double cap = s->light_cap, largest = 0;
    if (s->n_columns) largest = s->slack_rate * s->sums[s->n_columns - 1] + s->rate;
    for (int g = 0; g < GROUPS && s->group_start[g] < s->n_columns; g++) {
        cap = g < LIGHT_GROUPS ? ldexp(s->light_cap, g - LIGHT_GROUPS + 1) : 1.08 * cap + 0.1;
        if (g == GROUPS - 1) cap = most(cap, 1.01 * largest);
        s->group_cap[g] = cap;
        s->group_start[g + 1] = first_above(s, s->group_start[g], (cap - s->rate) / s->slack_rate * (1 - 1e-12));
        s->n_groups = g + 1;
    }
    s->n_light = s->eager_only ? 0 : s->group_start[s->n_groups < LIGHT_GROUPS ? s->n_groups : LIGHT_GROUPS];
    s->n_heavy = s->n_columns - s->n_light;
    s->n_entries = s->n_heavy * k;
    if (!allocate(s)) return 0;
    s->scale = 1;
    s->octaves = 56 - (int)ceil(log2(2.0 * (double)s->n_columns * k));
    s->anchor_step = 0;
    if (s->eager_only)
        find_all_scores(s);
    else
        find_scores(s);
    s->eager_until = -1;
    int forced = s->first_drift > 0;
    if (!forced) s->first_drift = s->bound * sqrt((double)s->n * k);
    s->planned = s->first_drift;
    build(s, s->eager_only ? 0 : s->planned);
    while (!forced && s->n_explicit > 8 && s->planned > 1e-3 * s->first_drift)
        build(s, s->planned *= 0.4);
    freshen(s);
    memcpy(s->anchor_r, s->r, sizeof(float) * (size_t)(s->n * k));
    if (s->coarse) memcpy(s->base_r, s->r, sizeof(float) * (size_t)(s->n * k));
    remember(s);
    return 1;
}

/* Sums at weights zero for all entries, to be shared by all walks on the same records: all at once,
   or column by column, with derivatives at hand or not. */
static int sums_at_zero(walk_t *s, int at_once, int at_hand, double *sums) {
    s->n_entries = 0;
    if (!allocate(s)) {
        release(s);
        return 1;
    }
    s->scale = 1;
    if (at_once)
        find_all_sums(s, sums);
    else {
        if (at_hand)
            freshen(s);
        else
            s->spent_step = -HUGE_VAL; /* a pass would never be worth it */
        for (int64_t k = 0; k < s->n_columns; k++)
            for (int c = 0; c < s->n_outputs; c++) sums[k * s->n_outputs + c] = column_sum(s, k, c);
    }
    release(s);
    return 0;
}

/* Coarse sums of all columns over a change of derivatives, and bounds on their errors: for tests. */
static int coarse_sums(walk_t *s, const float *base, const float *r, double *sums, double *errors) {
    int done = allocate(s);
    if (done) {
        memcpy(s->base_r, base, sizeof(float) * (size_t)s->n);
        memcpy(s->r, r, sizeof(float) * (size_t)s->n);
        s->fresh = 1;
        coarsen(s);
        for (int64_t k = 0; k < s->n_features; k++) {
            sums[k] = coarse_sum(s, k, 0);
            errors[k] = coarse_error(s, k, 0);
        }
    }
    release(s);
    return !done;
}

/* The whole walk; zero if all went well, 1 without memory, 2 if a callback failed. */
static int run_walk(walk_t *s) {
    if (!begin(s)) {
        release(s);
        return 1;
    }
    for (s->t = 0; s->t < s->n_steps && !s->failed; s->t++) {
        s->spent_step = 0;
        s->step_start = s->spent;
        if (s->t > 0 && s->n_heavy) {
            int eager = s->eager_only || s->t <= s->eager_until;
            double length = (double)(s->t - s->anchor_step);
            if (!eager) s->drifted = drift(s);
            if (eager || (length > 1 && s->spent > s->patience * s->refresh_time))
                refresh(s);
            else if (s->drifted > s->allowed) {
                if (!s->passes_always && (s->ratio < 0.8 || s->counters[PASSES] % 8 == 0)) {
                    /* The bound may be loose: look how far derivatives have really drifted. */
                    freshen(s);
                    double real = sqrt(squared_distance(s->r, s->anchor_r, s->n * s->n_outputs));
                    s->ratio = real / s->drifted;
                    remember(s);
                    s->drifted = s->offset = real * (1 + 1e-8);
                }
                if (s->drifted > 0.75 * s->allowed)
                    build(s, (s->passes_always ? 1.15 : 1.5) * s->drifted);
            }
            s->counters[EAGER] += eager;
        }
        weigh(s);
        int c = 0, positive = 1;
        int64_t k = select_vertex(s, &c, &positive);
        if (s->failed) break;
        advance(s, k, c, positive ? 1 : -1, s->steps[s->t]);
        int64_t entry = s->order[k] * (int64_t)s->n_outputs + c;
        s->chosen[s->t] = entry + (positive ? 0 : s->n_columns * s->n_outputs);
        s->recent = 0.8 * s->recent + 0.2 * (s->spent - s->step_start);
    }
    release(s);
    return s->failed ? 2 : 0;
}

#endif

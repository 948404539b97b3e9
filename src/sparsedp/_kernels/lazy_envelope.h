/* Bounds on scores, and whole numbers above the weights of all candidates made from them. */
#ifndef SPARSEDP_LAZY_ENVELOPE_H
#define SPARSEDP_LAZY_ENVELOPE_H

#include "lazy_coarse.h"

#define ROUND_UP (1 + 0x1p-30) /* more than all rounding errors of an envelope weight */

/* A step as it is noted with entries that are looked at; zero is never. */
static inline int64_t moment(int64_t step) { return 2 * step + 2; }

static inline uint64_t envelope(const walk_t *s, double height) {
    return (uint64_t)(int64_t)(exponential(height - s->level) * ldexp(ROUND_UP, s->octaves)) + 1;
}

/* Heights of the envelope for both signs, before rounding up to whole numbers. */
WIDE static void heights(const double *restrict units, const double *restrict width, int64_t size,
                         double rate, double level, double unit, double *restrict positive,
                         double *restrict negative) {
    for (int64_t e = 0; e < size; e++) {
        double h = rate * units[e];
        positive[e] = exponential(h + width[e] - level) * unit;
        negative[e] = exponential(-h + width[e] - level) * unit;
    }
}

WIDE static void masses(const double *restrict units, const double *restrict width, int64_t size,
                        double rate, double level, double *restrict plain,
                        double *restrict excess) {
    for (int64_t e = 0; e < size; e++) {
        double h = fabs(rate * units[e]), mass = exponential(h - level);
        plain[e] = mass + exponential(-h - level);
        excess[e] = mass * (exponential(width[e]) - 1);
    }
}

static inline int octave(double x) {
    uint64_t bits;
    memcpy(&bits, &x, 8);
    int exponent = (int)((bits >> 52) & 0x7ff) - 1023;
    return exponent < -40 ? 0 : exponent > 23 ? 63 : exponent + 40;
}

/* The largest absolute score that is known, or bounds a light column, in grid units: on a scale
   with this as top all weights of an envelope together fit into a word. */
static double top_known(const walk_t *s) {
    double top = s->light_groups ? s->group_cap[s->light_groups - 1] / s->rate : 0;
    for (int64_t e = s->first; e < s->n_entries; e++) top = most(top, fabs(s->units[e]));
    for (int64_t e = s->first; e < s->n_entries && !s->eager_only; e++)
        if (s->seen[e] >= moment(s->anchor_step) && (s->seen[e] & 1))
            top = most(top, fabs(s->seen_units[e]));
    return ceil(top);
}

/* Bounds on the scores of heavy entries valid while drift is at most `allowed`: those whose bounds
   would waste proposals become explicit and get new bounds in every step, the others a table. */
static void build(walk_t *s, double allowed) {
    int64_t first = s->first, size = s->n_entries;
    double *width = s->grown, *plain = s->work, *excess = s->work + size;
    int bounded = allowed > 0 || !s->anchor_exact;
    for (int64_t e = first; e < size; e++)
        width[e] = bounded ? least(allowed * s->reach[e], s->span[e]) + s->tolerance[e] : 0;
    s->allowed = allowed;
    s->top_units = top_known(s);
    s->level = s->rate * s->top_units;
    int cut = 64;
    if (bounded) {
        masses(s->units + first, width + first, size - first, s->rate, s->level, plain + first,
               excess + first);
        double total = 0, wasted = 0, histogram[64] = {0};
        for (int g = 0; g < s->light_groups; g++)
            total += 2.0 * s->n_outputs * (double)(s->group_start[g + 1] - s->group_start[g]) *
                     exponential(s->group_cap[g] - s->level);
        for (int64_t e = first; e < size; e++) total += plain[e];
        for (int64_t e = first; e < size; e++) {
            excess[e] /= total;
            histogram[octave(excess[e])] += excess[e];
        }
        for (int b = 0; b < 64 && cut == 64; b++) {
            wasted += histogram[b];
            if (wasted > 0.5) cut = b;
        }
    }
    s->light_sum = 0;
    for (int g = 0; g < s->light_groups; g++) {
        uint64_t members = (uint64_t)(s->group_start[g + 1] - s->group_start[g]);
        s->light_weight[g] = envelope(s, s->group_cap[g]);
        s->light_total[g] = 2 * members * (uint64_t)s->n_outputs * s->light_weight[g];
        s->light_sum += s->light_total[g];
    }
    s->n_table = s->n_explicit = 0;
    for (int64_t e = first; e < size; e++) {
        if (cut < 64 && octave(excess[e]) >= cut)
            s->explicit_entry[s->n_explicit++] = e;
        else
            s->in_table[s->n_table++] = e;
    }
    uint64_t sum = 0;
    heights(s->units + first, width + first, size - first, s->rate, s->level,
            ldexp(ROUND_UP, s->octaves), plain + first, excess + first);
    for (int64_t j = 0; j < s->n_table; j++) {
        int64_t e = s->in_table[j];
        s->positive[j] = (uint64_t)(int64_t)plain[e] + 1;
        sum += s->positive[j] + (uint64_t)(int64_t)excess[e] + 1;
        s->cumulative[j] = sum;
    }
    s->tracking = allowed > 0;
    s->spent += TIME_BUILD * (double)(size - first);
}

/* Bounds on the score of a heavy entry now; returns whether it is known exactly. */
static int interval(const walk_t *s, int64_t e, double *low, double *high, double *units) {
    int anchored = s->anchor_exact && s->anchor_step == s->t;
    if (anchored || s->seen[e] == moment(s->t) + 1) {
        *units = anchored ? s->units[e] : s->seen_units[e];
        *low = *high = s->rate * *units;
        return 1;
    }
    double h = s->rate * s->units[e];
    double width = least(s->drifted * s->reach[e], s->span[e]) + s->tolerance[e];
    *low = h - width;
    *high = h + width;
    if (s->seen[e] >= moment(s->anchor_step)) {
        h = s->rate * s->seen_units[e];
        width = least((s->path - s->seen_path[e]) * s->reach[e], s->span[e]) + s->seen_tolerance[e];
        *low = most(*low, h - width);
        *high = least(*high, h + width);
    }
    return 0;
}

/* The same for many entries; those that are known exactly keep their slack. */
WIDE static void intervals(const walk_t *s, const int64_t *restrict entry, int64_t size,
                           double *restrict low, double *restrict high) {
    const double *restrict units = s->units, *restrict reach = s->reach, *restrict span = s->span;
    const double *restrict tolerance = s->tolerance, *restrict seen_units = s->seen_units;
    const double *restrict seen_path = s->seen_path, *restrict seen_tolerance = s->seen_tolerance;
    const int64_t *restrict seen = s->seen;
    double rate = s->rate, drifted = s->drifted, path = s->path;
    int64_t fence = moment(s->anchor_step);
    for (int64_t j = 0; j < size; j++) {
        int64_t e = entry[j];
        double h = rate * units[e], width = least(drifted * reach[e], span[e]) + tolerance[e];
        double other = rate * seen_units[e];
        double since = least((path - seen_path[e]) * reach[e], span[e]) + seen_tolerance[e];
        since = seen[e] >= fence ? since : HUGE_VAL;
        low[j] = most(h - width, other - since);
        high[j] = least(h + width, other + since);
    }
}

static void saw(walk_t *s, int64_t e, double units, double tolerance, int exact) {
    s->seen_units[e] = units;
    s->seen_tolerance[e] = tolerance;
    s->seen_path[e] = s->path;
    s->seen[e] = moment(s->t) + exact;
}

static double look(walk_t *s, int64_t e) {
    int64_t k = s->n_light + e / s->n_outputs;
    double units = score_units(s, k, (int)(e % s->n_outputs));
    saw(s, e, units, s->slack[e], 1);
    return units;
}

/* Bound the score of an entry by its coarse sum; zero if that would not say much more. */
static int glance(walk_t *s, int64_t e, double low, double high) {
    int64_t k = s->n_light + e / s->n_outputs;
    int c = (int)(e % s->n_outputs), known = !s->anchor_exact && s->anchor_step == s->t;
    if (!s->coarse_looks || !has_coarse(s, k) || known || s->seen[e] >= moment(s->t)) return 0;
    coarsen(s);
    double error = s->steepness * coarse_error(s, k, c);
    if (error > 0.25 * (high - low)) return 0;
    saw(s, e, -coarse_sum(s, k, c) / s->grid, error + s->slack[e], 0);
    return 1;
}

/* Proposals of an explicit entry. */
static inline void propose(walk_t *s, int64_t j, uint64_t positive, uint64_t negative) {
    s->explicit_positive[j] = positive;
    s->explicit_negative[j] = negative;
    s->explicit_block[j / SCANNED] += positive + negative;
    s->total += positive + negative;
}

/* Make them anew after more has become known about it. */
static void propose_again(walk_t *s, int64_t j) {
    double low, high, units;
    uint64_t both = s->explicit_positive[j] + s->explicit_negative[j];
    s->explicit_block[j / SCANNED] -= both;
    s->total -= both;
    interval(s, s->explicit_entry[j], &low, &high, &units);
    propose(s, j, envelope(s, high), envelope(s, -low));
}

/* Heights of the envelope from bounds, before rounding up to whole numbers. */
WIDE static void explicit_heights(const double *restrict low, const double *restrict high,
                                  int64_t size, double level, double unit,
                                  double *restrict positive, double *restrict negative) {
    for (int64_t j = 0; j < size; j++) {
        positive[j] = exponential(high[j] - level) * unit;
        negative[j] = exponential(-low[j] - level) * unit;
    }
}

/* Envelope of the explicit entries; zero if one of them is too high for the scale. */
static int weigh_explicit(walk_t *s) {
    int64_t size = s->n_explicit;
    double most_weight = 0x1p61 / (2.0 * (double)(size + 1)), units;
    double highest = s->level + log(most_weight / ldexp(2, s->octaves));
    double *low = s->explicit_low, *high = s->explicit_high;
    double *positive = s->work, *negative = s->work + size, unit = ldexp(ROUND_UP, s->octaves);
    s->total = (s->n_table ? s->cumulative[s->n_table - 1] : 0) + s->light_sum;
    memset(s->explicit_block, 0, sizeof(uint64_t) * (size_t)(size / SCANNED + 1));
    intervals(s, s->explicit_entry, size, low, high);
    explicit_heights(low, high, size, s->level, unit, positive, negative);
    for (int64_t j = 0; j < size; j++) {
        if (high[j] > highest || -low[j] > highest) {
            look(s, s->explicit_entry[j]);
            interval(s, s->explicit_entry[j], &low[j], &high[j], &units);
            if (fabs(high[j]) > highest) return 0;
            explicit_heights(low + j, high + j, 1, s->level, unit, positive + j, negative + j);
        }
        propose(s, j, (uint64_t)(int64_t)positive[j] + 1, (uint64_t)(int64_t)negative[j] + 1);
    }
    s->counters[EXPLICIT] += size;
    s->spent += TIME_EXPLICIT * (double)size;
    return 1;
}

/* Envelope of the explicit entries, on a scale that has room for them all: each time that one is
   too high for it, its score is known afterwards and counts for the next scale. */
static void weigh(walk_t *s) {
    while (!weigh_explicit(s) && !s->failed) build(s, s->allowed);
}

#endif

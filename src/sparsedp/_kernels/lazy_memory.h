/* What a walk keeps while it goes on. */
#ifndef SPARSEDP_LAZY_MEMORY_H
#define SPARSEDP_LAZY_MEMORY_H

#include "lazy_state.h"

#define ALLOCATE(type, name, size) (s->name = (type *)calloc((size_t)((size) + 1), sizeof(type)))

static int allocate(walk_t *s) {
    int64_t all = s->n * s->n_outputs, size = s->n_entries;
    int sparse = !s->passes_always, coarse = s->coarse != NULL;
    s->clip = (float)s->bound;
    if ((double)s->clip > s->bound) s->clip = nextafterf(s->clip, 0.0f);
    s->totaled = s->offsets != NULL || s->n_columns > s->n_features;
    return ALLOCATE(double, v, all) && ALLOCATE(double, shift, s->n_outputs) &&
           ALLOCATE(float, r, all) && ALLOCATE(pair_t, totals, s->n_outputs) &&
           ALLOCATE(float, base_r, coarse * all) && ALLOCATE(int16_t, changes, coarse * all) &&
           ALLOCATE(double, change_unit, s->n_outputs) &&
           ALLOCATE(double, change_norm, s->n_outputs) &&
           ALLOCATE(double, change_rest, s->n_outputs) && ALLOCATE(float, anchor_r, all) && ALLOCATE(float, pass_r, all) &&
           ALLOCATE(double, reference, sparse * all) &&
           ALLOCATE(double, reference_sums, s->n_outputs) &&
           ALLOCATE(double, moved_sums, s->n_outputs) &&
           ALLOCATE(double, touched, sparse * s->n) && ALLOCATE(int32_t, touch_epoch, sparse * s->n) &&
           ALLOCATE(double, units, size) && ALLOCATE(double, reach, size) &&
           ALLOCATE(double, span, size) && ALLOCATE(double, slack, size) &&
           ALLOCATE(double, tolerance, size) && ALLOCATE(double, seen_tolerance, size) &&
           ALLOCATE(double, seen_units, size) && ALLOCATE(double, seen_path, size) &&
           ALLOCATE(int64_t, seen, size) && ALLOCATE(double, work, 2 * size) &&
           ALLOCATE(double, grown, size) && ALLOCATE(uint64_t, cumulative, size) &&
           ALLOCATE(uint64_t, positive, size) && ALLOCATE(int64_t, in_table, size) &&
           ALLOCATE(int64_t, explicit_entry, size) && ALLOCATE(double, explicit_low, size) &&
           ALLOCATE(double, explicit_high, size) && ALLOCATE(uint64_t, explicit_positive, size) &&
           ALLOCATE(uint64_t, explicit_negative, size) &&
           ALLOCATE(uint64_t, explicit_block, size / SCANNED + 1);
}

static void release(walk_t *s) {
    void *all[] = {s->v, s->shift, s->r, s->totals, s->anchor_r, s->pass_r, s->reference,
                   s->reference_sums, s->moved_sums, s->touched, s->touch_epoch, s->units, s->reach,
                   s->span, s->slack, s->tolerance, s->seen_tolerance, s->base_r, s->changes,
                   s->change_unit, s->change_norm, s->change_rest, s->seen_units, s->seen_path, s->seen, s->work, s->grown,
                   s->cumulative, s->positive, s->in_table, s->explicit_entry, s->explicit_low,
                   s->explicit_high, s->explicit_positive, s->explicit_negative,
                   s->explicit_block};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

#endif

/* All scores along a walk whose choices are given: what a walk would have seen, for audits. */
#ifndef SPARSEDP_LAZY_REPLAY_H
#define SPARSEDP_LAZY_REPLAY_H

#include "lazy_walk.h"

/* Scores of positive vertices before each step, n_steps rows; not rounded to the grid. Zero if all
   went well, 1 without memory. */
static int replay_walk(walk_t *s, const int64_t *vertices, double *scores) {
    int64_t size = s->n_columns * s->n_outputs;
    s->n_entries = 0;
    if (!allocate(s)) {
        release(s);
        return 1;
    }
    s->scale = 1;
    for (s->t = 0; s->t < s->n_steps; s->t++) {
        int64_t entry = vertices[s->t] % size, chosen = 0;
        for (int64_t k = 0; k < s->n_columns; k++) {
            double *found = scores + s->t * size + s->order[k] * (int64_t)s->n_outputs;
            for (int c = 0; c < s->n_outputs; c++) found[c] = -column_sum(s, k, c);
            if (s->order[k] == entry / s->n_outputs) chosen = k;
        }
        double sign = vertices[s->t] < size ? 1 : -1;
        advance(s, chosen, (int)(entry % s->n_outputs), sign, s->steps[s->t]);
        s->spent_step = 0;
    }
    release(s);
    return 0;
}

#endif

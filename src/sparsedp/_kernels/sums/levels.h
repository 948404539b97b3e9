/* Where numbers lie between their bounds, as cells of a table. */
#ifndef SPARSEDP_LEVELS_H
#define SPARSEDP_LEVELS_H

#include <stddef.h>
#include <stdint.h>

#include "wide.h"

/* Twice the cell, and one more unless the number is the lower end of its cell: exact, as the number
   of cells is a power of two. NaN counts as the lower bound. The cast is in range: the position is
   between 0 and the number of cells, which callers keep below 2^30. */
static inline int32_t place(double value, double lower, double width, double n_cells) {
    double fraction = (value - lower) / width;
    fraction = fraction > 0.0 ? fraction : 0.0;
    fraction = fraction < 1.0 ? fraction : 1.0;
    double position = fraction * n_cells;
    int32_t cell = (int32_t)position;
    return 2 * cell + (position > (double)cell);
}

WIDE static void row_places(const double *restrict values, const double *restrict lower,
                            const double *restrict width, double n_cells, ptrdiff_t d,
                            int32_t *restrict places) {
    for (ptrdiff_t j = 0; j < d; j++) places[j] = place(values[j], lower[j], width[j], n_cells);
}

/* The last knot that is not above a value, but the last one of all; and the part of the way to the
   next: never less than 0 or more than 1, also by rounding or beyond the knots; NaN counts as 0. */
WIDE static int32_t between(double value, const double *restrict knots, ptrdiff_t n_knots,
                            double *restrict above) {
    int32_t cell = 0;
    for (ptrdiff_t c = 1; c < n_knots - 1; c++) cell += knots[c] <= value;
    double part = (value - knots[cell]) / (knots[cell + 1] - knots[cell]);
    part = part > 0.0 ? part : 0.0;
    *above = part < 1.0 ? part : 1.0;
    return cell;
}

#endif

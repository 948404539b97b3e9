/* Derivatives of the logistic loss, and how far they are shrunk.

   Plain IEEE operations in a fixed order, the same as in slopes_reference.py: no fast-math, no
   contraction, no library's exponential. So a record's derivative is the same to the last bit with
   every instruction set, wherever the record stands. */
#ifndef SPARSEDP_SLOPES_H
#define SPARSEDP_SLOPES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "wide.h"

#define FARTHEST 708.0 /* the exponential of this is a double */
#define SHIFTER 0x1.8p52 /* adding it rounds to a whole number, found in the lowest bits */
#define PER_HALVING 0x1.71547652b82fep0 /* 1 / ln 2 */
#define HALVING_HIGH 0x1.62e42fefa38p-1 /* ln 2 to 41 bits: its products with exponents are exact */
#define HALVING_LOW 0x1.ef35793c7673p-45 /* the rest */

/* exp(x) for |x| <= FARTHEST: 2^k times a polynomial in the rest, which is at most half of ln 2. */
static inline double exponential(double x) {
    double shifted = x * PER_HALVING + SHIFTER, k = shifted - SHIFTER;
    double r = (x - k * HALVING_HIGH) - k * HALVING_LOW;
    double square = r * r;
    /* Even and odd terms by themselves: neither has to wait for the other. */
    double even = 1.0 / 479001600.0, odd = 1.0 / 6227020800.0;
    even = even * square + 1.0 / 3628800.0, odd = odd * square + 1.0 / 39916800.0;
    even = even * square + 1.0 / 40320.0, odd = odd * square + 1.0 / 362880.0;
    even = even * square + 1.0 / 720.0, odd = odd * square + 1.0 / 5040.0;
    even = even * square + 1.0 / 24.0, odd = odd * square + 1.0 / 120.0;
    even = even * square + 0.5, odd = odd * square + 1.0 / 6.0;
    double p = (square * (even + r * odd) + r) + 1.0;
    uint64_t exponent, bits;
    memcpy(&exponent, &shifted, sizeof exponent);
    memcpy(&bits, &p, sizeof bits);
    bits += exponent << 52;
    memcpy(&p, &bits, sizeof p);
    return p;
}

/* Probability minus label. */
WIDE static void logistic_slopes(const double *restrict margins, const double *restrict target,
                                 ptrdiff_t n, double *restrict out) {
    for (ptrdiff_t i = 0; i < n; i++) {
        double x = -margins[i];
        x = x < -FARTHEST ? -FARTHEST : x;
        x = x > FARTHEST ? FARTHEST : x;
        out[i] = 1.0 / (1.0 + exponential(x)) - target[i];
    }
}

/* Divide by the part of the bound that slope times length uses, if that is more than all of it;
   squares get the square of that part, at most 1. */
WIDE static void shrink_slopes(double *restrict slopes, const double *restrict lengths,
                               double bound, ptrdiff_t n, double *restrict squares) {
    for (ptrdiff_t i = 0; i < n; i++) {
        double used = fabs(slopes[i]) * lengths[i] / bound;
        slopes[i] /= used > 1.0 ? used : 1.0;
        used = used < 1.0 ? used : 1.0;
        squares[i] = used * used;
    }
}

#endif

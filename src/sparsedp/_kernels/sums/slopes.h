/* Residuals of the logistic and the multinomial loss, and how far they are shrunk.

   Plain IEEE operations in a fixed order, the same as in slopes_reference.py: no fast-math, no
   contraction, no library's exponential. So a record's residual is the same to the last bit with
   every instruction set, wherever the record stands.

   What is not a number contributes nothing: every comparison is written such that NaN, or a product
   that overflows, ends in a zero. */
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

/* exp(x) for |x| <= FARTHEST: 2^k times a polynomial in the rest, which is at most half of ln 2.
   No cast from floating point: the whole number k, at most 1022 in size, is read from the lowest bits
   of the shifted argument, and added to the exponent of p, which is between 0.7 and 1.5. Callers
   make sure of the range, NaN included. */
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

/* Exponentials, of arguments cut off at FARTHEST; close to zero if the argument is not a number. */
WIDE static void exponentials(const double *restrict x, ptrdiff_t n, double *restrict out) {
    for (ptrdiff_t i = 0; i < n; i++) {
        double within = x[i] > -FARTHEST ? x[i] : -FARTHEST;
        out[i] = exponential(within < FARTHEST ? within : FARTHEST);
    }
}

/* Probability minus label; zero if the margin is not a number. */
WIDE static void logistic_residuals(const double *restrict margins, const double *restrict target,
                                 ptrdiff_t n, double *restrict out) {
    for (ptrdiff_t i = 0; i < n; i++) {
        double x = -margins[i];
        x = x > -FARTHEST ? x : -FARTHEST;
        x = x < FARTHEST ? x : FARTHEST;
        double residual = 1.0 / (1.0 + exponential(x)) - target[i];
        out[i] = margins[i] == margins[i] ? residual : 0.0;
    }
}

/* Probabilities of k classes minus the label's, row by row; zero if a margin is not a number or the
   largest one is infinite. Exponentials are added in the order of the classes. */
WIDE static void multinomial_residuals(const double *restrict margins, const int64_t *restrict target,
                                    ptrdiff_t n, ptrdiff_t k, double *restrict out) {
    for (ptrdiff_t i = 0; i < n; i++) {
        const double *row = margins + i * k;
        double *residuals = out + i * k;
        double top = row[0], total = 0.0;
        int known = row[0] == row[0];
        for (ptrdiff_t c = 1; c < k; c++) {
            known &= row[c] == row[c];
            top = row[c] > top ? row[c] : top;
        }
        known &= fabs(top) < INFINITY;
        for (ptrdiff_t c = 0; c < k; c++) {
            double x = row[c] - top;
            x = x > -FARTHEST ? x : -FARTHEST; /* and at most 0 */
            residuals[c] = exponential(x);
        }
        for (ptrdiff_t c = 0; c < k; c++) total += residuals[c];
        for (ptrdiff_t c = 0; c < k; c++) {
            double residual = residuals[c] / total - (double)(c == target[i]);
            residuals[c] = known ? residual : 0.0;
        }
    }
}

/* Divide by the part of the bound that residual times length uses, if that is more than all of it;
   squares get the square of that part, at most 1. */
WIDE static void shrink_residuals(double *restrict residuals, const double *restrict lengths,
                               double bound, ptrdiff_t n, double *restrict squares) {
    for (ptrdiff_t i = 0; i < n; i++) {
        double used = fabs(residuals[i]) * lengths[i] / bound;
        double shrunk = residuals[i] / (used > 1.0 ? used : 1.0);
        residuals[i] = used < INFINITY ? shrunk : 0.0;
        used = used < INFINITY ? used : 0.0;
        used = used < 1.0 ? used : 1.0;
        squares[i] = used * used;
    }
}

/* The same for k residuals of a record, which are shrunk as a whole; squares of residuals are added in
   the order of the classes. */
WIDE static void shrink_rows(double *restrict residuals, const double *restrict lengths, double bound,
                             ptrdiff_t n, ptrdiff_t k, double *restrict squares) {
    for (ptrdiff_t i = 0; i < n; i++) {
        double *row = residuals + i * k;
        double total = 0.0;
        for (ptrdiff_t c = 0; c < k; c++) total += row[c] * row[c];
        double used = sqrt(total) * lengths[i] / bound;
        double divisor = used > 1.0 ? used : 1.0;
        for (ptrdiff_t c = 0; c < k; c++) {
            double shrunk = row[c] / divisor;
            row[c] = used < INFINITY ? shrunk : 0.0;
        }
        used = used < INFINITY ? used : 0.0;
        used = used < 1.0 ? used : 1.0;
        squares[i] = used * used;
    }
}

/* Multiply k residuals of a record as a whole until none is beyond the bound. */
WIDE static void limit_rows(double *restrict residuals, double bound, ptrdiff_t n, ptrdiff_t k) {
    for (ptrdiff_t i = 0; i < n; i++) {
        double *row = residuals + i * k;
        double largest = 0.0;
        int known = 1;
        for (ptrdiff_t c = 0; c < k; c++) {
            double size = fabs(row[c]);
            known &= size < INFINITY;
            largest = size > largest ? size : largest;
        }
        double factor = largest > bound ? bound / largest : 1.0;
        for (ptrdiff_t c = 0; c < k; c++) {
            double limited = row[c] * factor;
            limited = limited < bound ? limited : bound;
            limited = limited > -bound ? limited : -bound;
            row[c] = known & (limited == limited) ? limited : 0.0;
        }
    }
}

#endif

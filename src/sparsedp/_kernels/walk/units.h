/* Whole numbers instead of sums of floating point.

   An entry x in [-1, 1] is a whole number of 1/ONE, a residual r in [-bound, bound] one of
   bound/ONE. A score, minus the sum of x * r over a column, is then exact in any order, and one record
   moves it by at most ONE * ONE. Rounding is a map of each record by itself: part of the mechanism.

   Where records have weights, those of one person add up to at most 1, and residuals times weights
   are truncated toward zero: all that a person has then moves a score by no more than one record. */
#ifndef SPARSEDP_WALK_UNITS_H
#define SPARSEDP_WALK_UNITS_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wide.h"

#define ONE 16384
#define WHOLE_WEIGHT (1LL << 30)
#define MOST_OUTPUTS 1024
enum { LOGISTIC, SQUARED, MULTINOMIAL };

/* How fast residuals move with margins, L2, and how far off single precision is: see lazy.md. */
static const double LIPSCHITZ[] = {0.25, 1.0, 0.70711};
static const double SLIP[] = {0x1p-20, 0x1p-40, 0x1p-17};

static inline int16_t whole(float r) { /* the nearest whole number within ONE; NaN becomes ONE */
    r = r < (float)ONE ? r : (float)ONE;
    r = r > -(float)ONE ? r : -(float)ONE;
    return (int16_t)((r + 0x1.8p23f) - 0x1.8p23f);
}

static inline int16_t weighed(int16_t r, int32_t weight) { /* toward zero, never to the nearest */
    return (int16_t)((int64_t)weight * r / WHOLE_WEIGHT);
}

static inline float exp_single(float x) { /* relative error below 2^-20 within +-80, else an end */
    x = x < -80.0f ? -80.0f : x;
    x = x > 80.0f ? 80.0f : x;
    float shifted = x * 1.44269504f + 0x1.8p23f, halvings = shifted - 0x1.8p23f;
    float rest = (x - halvings * 0.693359375f) + halvings * 2.12194440e-4f, p = 1.0f / 720;
    p = p * rest + 1.0f / 120, p = p * rest + 1.0f / 24, p = p * rest + 1.0f / 6;
    p = p * rest + 0.5f, p = p * rest + 1.0f, p = p * rest + 1.0f;
    uint32_t bits, exponent;
    memcpy(&exponent, &shifted, 4), memcpy(&bits, &p, 4);
    bits += exponent << 23;
    memcpy(&p, &bits, 4);
    return p;
}

static inline int16_t logistic(double margin, float target, float unit) {
    return whole((1.0f / (1.0f + exp_single(-(float)margin)) - target) * unit);
}

static inline int16_t squared(double margin, float target, float unit) {
    double r = (margin - target) * unit;
    r = r < ONE ? r : ONE;
    r = r > -ONE ? r : -ONE;
    return (int16_t)((r + 0x1.8p52) - 0x1.8p52);
}

/* Probabilities minus label, shrunk as a whole until the largest, that of the label, is within ONE. */
static void multinomial(const double *v, double scale, float target, float unit, int64_t n, int k,
                        int16_t *r) {
    float p[MOST_OUTPUTS];
    double top = v[0], sum = 0;
    int label = target > 0 ? (target < (float)(k - 1) ? (int)target : k - 1) : 0;
    for (int c = 1; c < k; c++) top = v[c * n] > top ? v[c * n] : top;
    for (int c = 0; c < k; c++) sum += p[c] = exp_single((float)(scale * (v[c * n] - top)));
    double others = sum - p[label] > 0 ? sum - p[label] : 0, miss = others / sum;
    double per = miss * unit > ONE ? ONE / miss : unit;
    for (int c = 0; c < k; c++)
        r[c * n] = whole((float)((c == label ? -miss : p[c] / sum) * per));
}

/* The residuals of all records at margins scale * v, output after output; of weight 1 without `weight`. */
WIDE static void residuals(int loss, const double *restrict v, double scale, const float *restrict y,
                           const int32_t *restrict weight, float unit, int64_t n, int k, int16_t *restrict r) {
    if (loss == LOGISTIC)
        for (int64_t i = 0; i < n; i++) r[i] = logistic(scale * v[i], y[i], unit);
    else if (loss == SQUARED)
        for (int64_t i = 0; i < n; i++) r[i] = squared(scale * v[i], y[i], unit);
    else
        for (int64_t i = 0; i < n; i++) multinomial(v + i, scale, y[i], unit, n, k, r + i);
    for (int64_t c = 0; weight && c < k; c++)
        for (int64_t i = 0; i < n; i++) r[c * n + i] = weighed(r[c * n + i], weight[i]);
}

#define BLOCK 512
WIDE static int64_t sum_of(const int16_t *restrict r, int64_t n) {
    int64_t sum = 0;
    for (int64_t start = 0; start < n; start += BLOCK) {
        int64_t end = start + BLOCK < n ? start + BLOCK : n;
        int32_t part = 0;
        for (int64_t i = start; i < end; i++) part += r[i];
        sum += part;
    }
    return sum;
}

/* The sum of a * b, both within ONE. In halves, a = 128 * high + low, products are at most 2^21: BLOCK of
   them fit into 32 bits, and compilers have an instruction for such sums. */
WIDE static int64_t sum_products(const int16_t *restrict a, const int16_t *restrict b, int64_t n) {
    int64_t sum = 0;
    for (int64_t start = 0; start < n; start += BLOCK) {
        int64_t end = start + BLOCK < n ? start + BLOCK : n;
        int32_t high = 0, low = 0;
        for (int64_t i = start; i < end; i++)
            high += (int16_t)(a[i] >> 7) * b[i], low += (int16_t)(a[i] & 127) * b[i];
        sum += (int64_t)high * 128 + low;
    }
    return sum;
}

WIDE static double squared_norm(const double *restrict v, int64_t n) { /* in eight lanes */
    double lane[8] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++) lane[l] += v[i + l] * v[i + l];
    for (; i < n; i++) sum += v[i] * v[i];
    for (int l = 0; l < 8; l++) sum += lane[l];
    return sum;
}

#endif

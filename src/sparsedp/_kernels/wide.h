/* All that is not standard C: the other headers and kernels go through every compiler.

   Both forms of either part do the same IEEE operations in the same order: there is no fast-math and no
   contraction. SPARSEDP_PLAIN asks for standard C, which other compilers get anyway. */
#ifndef SPARSEDP_WIDE_H
#define SPARSEDP_WIDE_H

#include <string.h>

/* Compile a function for several instruction sets and take the best one when it is first called. */
#if !defined(SPARSEDP_PLAIN) && defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__)
#define WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WIDE
#endif

/* Four doubles in one register; arrays would be kept in memory. They are never an argument or a result of
   a function that is not inlined: how they are passed depends on the instruction set. */
#if !defined(SPARSEDP_PLAIN) && defined(__GNUC__)
typedef double four __attribute__((vector_size(32), aligned(8), may_alias));
#define FOUR(pointer) (*(const four *)(pointer))
#define PLUS(a, b) ((a) + (b))
#define MINUS(a, b) ((a) - (b))
#define TIMES(a, b) ((a) * (b))
#define SCALED(factor, a) ((factor) * (a))
#define LANE(a, l) ((a)[l])
#else
typedef struct {
    double lane[4];
} four;
static inline four FOUR(const double *pointer) {
    four a;
    memcpy(&a, pointer, sizeof a);
    return a;
}
static inline four PLUS(four a, four b) {
    for (int l = 0; l < 4; l++) a.lane[l] += b.lane[l];
    return a;
}
static inline four MINUS(four a, four b) {
    for (int l = 0; l < 4; l++) a.lane[l] -= b.lane[l];
    return a;
}
static inline four TIMES(four a, four b) {
    for (int l = 0; l < 4; l++) a.lane[l] *= b.lane[l];
    return a;
}
static inline four SCALED(double factor, four a) {
    for (int l = 0; l < 4; l++) a.lane[l] = factor * a.lane[l];
    return a;
}
#define LANE(a, l) ((a).lane[l])
#endif

#define SQUARES(a, b) PLUS(TIMES(a, a), TIMES(b, b))
#define ADD_SCALED(sum, factor, a) ((sum) = PLUS(sum, SCALED(factor, a)))

#endif

/* Loops that hold four numbers at a time, for a test that compiles both of their forms. */
#include "norms.h"

void add_in_fours(const double *x, ptrdiff_t n, double *high, double *low) { add_values(x, n, high, low); }

void sparse_in_fours(const int32_t *indptr, const int32_t *columns, const double *x, ptrdiff_t n,
                     const double *map, const ptrdiff_t *firsts, const double *start, const double *lengths,
                     ptrdiff_t width, double *squares, double *sizes) {
    csr_mapped_32(indptr, columns, x, n, map, firsts, start, lengths, width, squares, sizes);
}

void dense_in_fours(const double *x, ptrdiff_t n, ptrdiff_t d, const double *tiles, const ptrdiff_t *firsts,
                    const double *start, const double *lengths, ptrdiff_t n_tiles, double *squares,
                    double *sizes) {
    dense_rows_mapped(x, d, n, d, tiles, firsts, start, lengths, n_tiles, squares, sizes);
}

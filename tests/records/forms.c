/* Loops that hold four numbers at a time, for a test that compiles both of their forms. */
#include "norms.h"
#include "products_sparse.h"

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

void sums_in_fours(const int32_t *indptr, const int32_t *columns, const double *x, const double *r, ptrdiff_t n,
                   double *sums) {
    csr_added_32(indptr, columns, x, r, 0, n, sums);
}

void outputs_in_fours(const int32_t *indptr, const int32_t *columns, const double *x, ptrdiff_t n,
                      const double *weights, ptrdiff_t width, const ptrdiff_t *begins, const ptrdiff_t *ends,
                      const double *start, double *out) {
    csr_spread_32(indptr, columns, x, n, weights, width, begins, ends, start, out);
}

"""Products with records and sums over them, as exact as sensitivities need (summation.md).

Products, norms and histograms of stored records; the same as solvers see them, centered and scaled;
and running sums over blocks.
"""

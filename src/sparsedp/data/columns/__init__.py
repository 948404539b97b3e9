"""Some columns of records, for solvers that look at few of them at a time.

A subset with sums and norms in other coordinates, an index of where the entries of a column are,
and records stored by columns.
"""

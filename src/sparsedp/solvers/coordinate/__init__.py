"""Coordinate descent: a coordinate is chosen privately, then a noisy step along it.

One solver, after Mangold et al. (2022), with its proof in greedy_coordinate.md.
"""

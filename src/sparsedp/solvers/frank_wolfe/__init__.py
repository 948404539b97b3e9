"""Frank-Wolfe over an L1 ball and its relatives: vertices chosen privately, one per step.

Walks in memory and over blocks, several classes, screening rules and noisy-min.
"""

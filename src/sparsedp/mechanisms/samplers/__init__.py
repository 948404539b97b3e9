"""How each release is drawn: selections, Gaussian noise on a grid, counts, objective noise.

Exact in integers wherever a proof needs it (samplers.md).
"""

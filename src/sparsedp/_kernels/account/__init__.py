"""Kernels for accounting: privacy losses of adaptive selections, composed.

``compose`` is compiled, ``compose_reference`` has the same signature in NumPy. Knows no data
(privacy/account/loss_distribution.py).
"""

"""What releases amount to: accountants, calibration and privacy loss distributions.

Upper bounds on delta(epsilon), each proven in accounting.md. Nothing in here knows a kind of
release: events/ imports this package, and hands over its costs in the normal form (cost.py).
"""

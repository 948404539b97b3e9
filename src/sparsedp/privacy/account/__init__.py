"""What releases amount to: accountants, calibration and privacy loss distributions.

Upper bounds on delta(epsilon), each proven in accounting.md.
"""

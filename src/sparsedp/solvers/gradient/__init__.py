"""Noisy gradient descent: dense (NoisyGD) and with hard thresholds (IGHT).

Both run descent.py: gradients of records that are clipped to a norm, released with Gaussian noise
at a scale that follows released figures (scale.py). records.py is what a block computes.
"""

"""Noisy gradient descent: dense (NoisyGD) and with hard thresholds (IGHT)."""

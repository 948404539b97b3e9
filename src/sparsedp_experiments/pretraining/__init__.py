"""Hoseinpour et al. (2023), pre-training for private logistic regression."""

"""Perturbed objectives: objective perturbation and ADMM.

A regularized objective gets a random linear term, and its minimum is released (objective.md).
regularized.py computes that minimum to the tolerance that the noise covers.
"""

"""Perturbed objectives: objective perturbation and ADMM."""

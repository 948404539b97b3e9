"""Kernels behind the exact samplers, with their slow reference."""

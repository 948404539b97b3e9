"""Kernels behind the exact samplers, with their slow reference.

``sample`` decides in whole numbers what ``sample_reference`` decides in fractions: the same bits
give the same draws (mechanisms/samplers/samplers.md).
"""

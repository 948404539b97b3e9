"""Kernels for accounting: privacy losses of adaptive selections, composed."""

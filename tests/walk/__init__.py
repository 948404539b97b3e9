"""Selections along a walk: the kernel, its law, its reference and what broke earlier ones."""

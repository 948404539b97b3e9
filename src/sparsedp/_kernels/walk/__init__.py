"""Selections along a walk: whole-number scores, certificates, levels (mechanisms/walk/lazy.md).

``kernel`` is compiled, ``checked`` the same with every invariant asserted, ``reference`` the law in
NumPy; all three take ``records``. The parts of the kernel are headers, one per concern.
"""

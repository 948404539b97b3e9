"""Selections along a walk: whole-number scores, certificates, levels (mechanisms/walk/lazy.md)."""

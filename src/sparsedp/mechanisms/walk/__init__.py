"""Selections along a path, most scores never computed: the protocol and two ways to answer it.

``lazy`` for records in memory (lazy.md), ``rounds`` for records in blocks (rounds.md).
"""

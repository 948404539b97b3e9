"""Faults that are planted one at a time, to see whether the tests notice (make mutants).

Every module here but `mutant` and `run` is a list ``MUTANTS``; `run` finds them by itself.
"""

"""The folder that a fit writes: prepared before the charge, swapped whole, finished later.

output.py has the order; swap.py, stopping.py and keep.py say what survives when it is interrupted,
runfile.py what was run.
"""

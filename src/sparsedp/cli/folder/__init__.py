"""The folder that a fit writes: prepared before the charge, swapped whole, finished later."""

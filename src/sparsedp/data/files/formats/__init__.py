"""One file per format: the names of its columns without a record, and its records in blocks.

Each has ``names(location, how)`` and ``blocks(location, how, wanted, rows)``; open_raw.py chooses.
"""

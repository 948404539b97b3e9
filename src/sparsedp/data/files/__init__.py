"""Files of records: CSV, LIBSVM, NPZ and Parquet, read within limits.

What is damaged or too large is refused with one sentence; cells go on to the gate as they are.
"""

"""Files and databases of records, read within limits; `open_raw` opens tables of any format.

What is damaged or too large is refused with one sentence; cells go on to the gate as they are.
"""

"""Records in blocks, on disk or on a cluster: functions travel to the records, sums come back.

Every block is sealed when it passes the gate and compared at every read.
"""

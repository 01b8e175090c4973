"""What changed between two sets of runs of one scenario, and by how much.

`sides.py` has what is known of either side, recorded runs or a stored baseline; `changes.py` takes
their differences, replication by replication where both have the same random numbers, and says
which are worse; `baseline.py` is the file in which a side is kept; `wording.py` says it all.
"""

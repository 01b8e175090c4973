"""How exactly measures are to be known: what was asked for, and what the replications give.

`asked.py` reads `conflict_rate +- 1 point`; `reached.py` holds it against the runs of all cells,
says how many replications the next round takes, and words what was reached.
"""

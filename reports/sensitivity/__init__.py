"""Which parameters move a result: one at a time, as paired differences with simultaneous intervals.

Pure functions on measured runs. `effects.py` makes and sorts the effects, `result.py` holds them,
`wording.py` says them, `figure.py` draws them, `document.py` has them for JSON.
"""

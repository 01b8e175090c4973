"""The cheapest design that meets the objectives: a search that is told runs, and what it found.

Pure functions on measured runs. `search.py` says which designs to run next and goes step by step;
`steps.py` says what each step buys, by runs that the search has not seen; `result.py` holds what
came out, `wording.py` says it, `document.py` has it for JSON.
"""

"""Where objectives cease to hold: the boundary along a parameter, from as few runs as will show it.

Pure functions, nothing is run here. `search.py` says which value is to be tried next and between
which values the boundary lies; `levels.py` how sure a verdict about one value must be so that the
interval holds; `trying.py` makes such verdicts of runs; `planned.py` holds what came out,
`wording.py` says it, `figure.py` draws it, `document.py` has it for JSON; `trend.py` looks whether
the response is monotone, as is assumed.
"""

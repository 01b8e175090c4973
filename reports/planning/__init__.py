"""Where objectives cease to hold: the boundary along a parameter, from as few runs as will show it.

Pure functions, nothing is run here. `search.py` says which value is to be tried next and between
which values the boundary lies; `levels.py` how sure a verdict about one value must be so that the
interval holds; `trying.py` makes such verdicts of runs; `boundary.py` and `planned.py` hold what
came out, `wording.py` says it, `trend.py` looks whether the response is monotone, as is assumed.
"""

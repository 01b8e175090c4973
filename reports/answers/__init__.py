"""The answer of a sweep or a run: what to choose under which load, by what it is chosen by.

Pure functions over measured cells (`whitecap.reports.tables.ReportTables.measured`): objectives are
judged per cell and writer group (`standing.py`), cells lie in a grid of loads and designs
(`grid.py`), what meets its objectives is ranked under each load (`choice.py`), what a design bears
follows from all of its loads (`capacity.py`), and `wording.py` says it, once for the terminal, the
page, `answer.json` and Python.
"""

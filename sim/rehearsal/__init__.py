"""Statements played alone before a run, on a small table, so that what is refused is known."""

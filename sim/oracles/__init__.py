"""Judges of what a table's writers left: they share no rule with the engine's conflict check."""

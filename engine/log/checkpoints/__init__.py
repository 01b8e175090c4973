"""Checkpoints: the state of a table in one place, and its actions in Parquet."""

"""The simulated table: its rows, how it begins, and how it is written to disk."""

"""What a recorded statement says, for the oracles: its kind, its shape, its SQL for DuckDB."""

"""What a recorded statement says, for the oracles: its SQL in DuckDB's words, and its shape."""

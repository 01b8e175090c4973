"""A real Delta table as the beginning of a simulated one: its log is read, nothing is written."""

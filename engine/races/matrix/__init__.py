"""Which commands can conflict: every pair of them raced over a family of small tables."""

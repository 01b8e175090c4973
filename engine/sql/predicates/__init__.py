"""Conditions: compiled, folded, split, and asked of partitions and statistics."""

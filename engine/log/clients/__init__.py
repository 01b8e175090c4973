"""What clients know of a table's log, and how they learn of more."""

"""What a real table's log says: its commits, who made them, and what their conditions name."""

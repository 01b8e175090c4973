"""What a run writes down while it happens, and the files that keep it."""

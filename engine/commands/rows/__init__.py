"""Commands that add, change and remove rows."""

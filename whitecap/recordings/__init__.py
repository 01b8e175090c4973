"""What is done with recordings: two put side by side, one forced on a real Delta Lake."""

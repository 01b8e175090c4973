"""The optimistic transaction, from its snapshot to its commit."""

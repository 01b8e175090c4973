"""The object store, the way to it, and what Delta asks of it."""

"""The way to the object store, and what Delta asks of it."""

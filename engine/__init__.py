"""Delta Lake's optimistic concurrency control, without input or output."""

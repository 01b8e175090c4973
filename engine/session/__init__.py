"""A client's session with a table, and what the clients of one process share."""

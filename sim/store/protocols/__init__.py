"""How a version of the log is taken: each protocol's requests, and what each of them decides."""

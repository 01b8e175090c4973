"""Which conditions reach the scan of a table."""

"""From the log of a real Delta table to a draft scenario: each figure with how it was inferred."""

DEFAULT_COMMITS = 5000
"""The newest commits of a log that are read: from an object store, a minute."""

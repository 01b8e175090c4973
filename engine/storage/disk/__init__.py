"""A table in a directory on disk: its driver, and rows as Parquet."""

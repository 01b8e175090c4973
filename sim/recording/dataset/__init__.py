"""The recordings of many runs as one Parquet dataset: its layout, and where it may lie."""

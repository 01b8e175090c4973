"""What the log says of data files, held against these."""

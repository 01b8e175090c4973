"""What Spark computes for a command: the rows of queries, sources and conditions."""

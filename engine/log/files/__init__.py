"""The live files of a table, by identity, by path and by partition."""

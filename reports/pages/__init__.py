"""Self-contained pages: of a sweep or run, a matrix, an explanation."""

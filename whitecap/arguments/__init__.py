"""What callers from Python give, held to what its parameter takes."""

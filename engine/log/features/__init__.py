"""Table features, and the protocols that support them."""

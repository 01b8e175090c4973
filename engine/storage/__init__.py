"""Storage requests and the drivers that answer them."""

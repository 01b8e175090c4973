"""Cases observed on a real Delta, and their runner."""

"""Scripts of recorded transactions, and how they are played on a real Delta Lake."""

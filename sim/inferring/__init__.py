"""From the log of a real Delta table to a draft scenario: each figure with how it was inferred."""

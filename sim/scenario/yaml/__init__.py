"""A scenario as text: reading YAML within bounds, with the line of every value."""

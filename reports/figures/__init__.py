"""The pictures of a report, in one style."""

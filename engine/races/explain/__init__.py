"""Why two statements conflict on one table, and what would avoid it."""

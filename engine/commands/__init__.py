"""What each SQL command reads and commits."""

"""What people decide with, in the terminal."""

"""Recordings seen as histories: who read which version, and what is replayed of it."""

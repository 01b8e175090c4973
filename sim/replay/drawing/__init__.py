"""Races drawn at random, for comparing this engine with a real Delta Lake."""

"""Expectations held against recorded runs: one run by itself, or replications by their interval."""

"""Recorded interleavings on a real Delta Lake."""

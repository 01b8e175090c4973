"""Conflict checking against one winning commit."""

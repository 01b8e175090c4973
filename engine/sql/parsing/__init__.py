"""Statements: from their text to what they say."""

"""Expressions: their text, their scope, the terms that they are compiled to."""

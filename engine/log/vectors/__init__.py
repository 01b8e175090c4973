"""Deletion vectors: which rows of a file are gone."""

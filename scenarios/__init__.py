"""Scenario files, store profiles and fault catalogues: data that people read and write."""

"""ALTER TABLE DROP FEATURE: what can be dropped, and how its traces are taken away before."""

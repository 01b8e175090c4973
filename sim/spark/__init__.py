"""Spark as a simulation needs it: how long its jobs take, and what the jobs of a cluster share."""

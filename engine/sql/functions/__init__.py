"""Spark's functions and operators: what they take, what they give, and what becomes of the rest."""

"""Spark SQL text, parsed once: predicates, expressions and statements over row tuples."""

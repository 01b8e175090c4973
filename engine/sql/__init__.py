"""Spark SQL text: parsed once, evaluated over rows and partition values."""

"""Values: Spark's types, what is a value of which, casts, common types, texts."""

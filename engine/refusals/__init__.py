"""What Delta and Spark refuse other than by a conflict: one function each, by what it is about."""

"""The serial replay with a real Spark in DuckDB's place: statements in their own words."""

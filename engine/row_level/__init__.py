"""Conflicts decided by rows, as Databricks does on tables with deletion vectors."""

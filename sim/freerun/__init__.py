"""The free run: real threads on a real Delta Lake, predicted before they begin, then compared."""

"""Time, chance, load and failure around the engine."""
